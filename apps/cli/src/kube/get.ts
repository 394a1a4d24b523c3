/** `reeve get`: objects as a table, JSON, YAML or names. */
import { type AnyObject, isKubeError, resourcePath, type ServedResource, servedResources } from '@reeve/kube';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import { reportError } from '../output/report.ts';
import { styleFor } from '../output/style.ts';
import { type Api, withApi } from './api.ts';
import { customColumns, knownColumns } from './columns.ts';
import { follow } from './follow.ts';
import { kindWord, readWanted, resolveKind, type Wanted } from './kinds.ts';
import { type ObjectForm, objectsText, objectText } from './print.ts';
import type { getOptions } from './spec.ts';
import { type Column, serverTable, type Table, TablePrinter, tableOf } from './table.ts';

type GetLine = CommandLine<typeof getOptions>;

/** A kind, and those of its objects that are meant. */
interface Group {
  readonly kind: ServedResource;
  readonly names: readonly string[];
  /** Undefined: all namespaces, or the kind has none. */
  readonly namespace: string | undefined;
}

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export async function run(line: GetLine): Promise<ExitCode> {
  const { words, values } = line;
  const wanted = readWanted(words);
  const isNamed = wanted.some(({ names }) => names.length > 0);
  if (isNamed && values.selector !== undefined) throw usage('a name and --selector exclude each other');
  if (isNamed && values['all-namespaces']) throw usage('a name and --all-namespaces exclude each other');
  if (values['all-namespaces'] && values.namespace !== undefined) {
    throw usage('--namespace and --all-namespaces exclude each other');
  }
  if (values.watch && (wanted.length > 1 || wanted.some(({ names }) => names.length > 1))) {
    throw usage('--watch takes one kind, and one name at most');
  }
  return withApi(line, (api) => get(line, api, wanted)).catch((error: unknown) => {
    if (values.selector === undefined || !isKubeError(error, 'KUBE_INVALID')) throw error;
    throw usage(`--selector '${values.selector}': ${error.status?.message ?? error.message}`);
  });
}

async function get(line: GetLine, api: Api, wanted: readonly Wanted[]): Promise<ExitCode> {
  const { values, signal } = line;
  const served = await servedResources(api.client, { signal });
  const groups = wanted.map(({ kind: word, names }): Group => {
    const kind = resolveKind(served, word);
    return { kind, names, namespace: kind.namespaced && !values['all-namespaces'] ? api.namespace : undefined };
  });
  const [first] = groups;
  if (values.watch && first) return watch(line, api, first);
  const form = values.output ?? 'table';
  const missing = new Missing(groups);
  if (form === 'table' || form === 'wide') await printTables(line, api, groups, missing);
  else await printObjects(line, api, groups, form as ObjectForm, missing);
  for (const error of missing.errors) await reportError(line.io, error);
  return missing.errors.length === 0 ? exit.ok : exit.failed;
}

/** Of several objects that are named, those that are not there keep nobody from seeing the others. */
class Missing {
  readonly errors: unknown[] = [];
  readonly #isOneOfSeveral: boolean;

  constructor(groups: readonly Group[]) {
    this.#isOneOfSeveral = groups.reduce((sum, { names }) => sum + names.length, 0) > 1;
  }

  /** What there is, in the order of its names. */
  async among<T>(names: readonly string[], read: (name: string) => Promise<T>): Promise<readonly T[]> {
    const found: T[] = [];
    for (const name of names) {
      try {
        found.push(await read(name));
      } catch (error) {
        if (!this.#isOneOfSeveral || !isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
        this.errors.push(error);
      }
    }
    return found;
  }
}

async function printObjects(
  line: GetLine,
  api: Api,
  groups: readonly Group[],
  form: ObjectForm,
  missing: Missing,
): Promise<void> {
  const objects: AnyObject[] = [];
  for (const group of groups) objects.push(...(await objectsOf(line, api, group, missing)));
  const isList = groups.length > 1 || groups.some(({ names }) => names.length !== 1);
  line.io.out(objectsText(objects, form, isList));
}

async function objectsOf(
  { values, signal }: GetLine,
  api: Api,
  group: Group,
  missing: Missing,
): Promise<readonly AnyObject[]> {
  const { kind, names, namespace } = group;
  const client = api.client.resource(kind, namespace);
  if (names.length > 0) return missing.among(names, (name) => client.get(name, { signal }));
  const { selector } = values;
  return (await client.listAll({ ...(selector !== undefined && { labelSelector: selector }), signal })).items;
}

async function printTables(line: GetLine, api: Api, groups: readonly Group[], missing: Missing): Promise<void> {
  const { io, values } = line;
  const tables: { readonly group: Group; readonly table: Table }[] = [];
  for (const group of groups) tables.push({ group, table: await tableFor(line, api, group, missing) });
  const filled = tables.filter(({ table }) => table.rows.length > 0);
  filled.forEach(({ group, table }, at) => {
    const printer = printerFor(line, group, groups.length > 1);
    io.out(`${at === 0 ? '' : '\n'}${printer.text(table)}`);
  });
  if (filled.length > 0 || missing.errors.length > 0) return;
  const what = groups.map(({ kind }) => kind.plural).join(', ');
  const isSomewhere = groups.some(({ namespace }) => namespace !== undefined);
  const where = isSomewhere ? ` in namespace ${api.namespace}` : '';
  io.err(`no ${what}${where}${values.selector === undefined ? '' : ' with these labels'}\n`);
}

function printerFor({ io, values }: GetLine, { kind }: Group, isOneOfSeveral: boolean): TablePrinter {
  const layout = {
    isWide: values.output === 'wide',
    withNamespace: values['all-namespaces'] && kind.namespaced,
    prefix: isOneOfSeveral ? `${kindWord(kind)}/` : '',
  };
  return new TablePrinter(layout, styleFor(io.outIsTerminal, io.env));
}

/** As the server shows it, if it makes tables. */
async function tableFor(line: GetLine, api: Api, group: Group, missing: Missing): Promise<Table> {
  const { io, values, signal } = line;
  const { kind, names, namespace } = group;
  const selector = values.selector === undefined ? '' : `?labelSelector=${encodeURIComponent(values.selector)}`;
  const read = (path: string): Promise<unknown> => api.client.read(path, { accept: AS_TABLE, signal });
  const answers =
    names.length > 0
      ? await missing.among(names, (name) => read(resourcePath(kind, namespace, name)))
      : [await read(`${resourcePath(kind, namespace)}${selector}`)];
  const tables = answers.map(serverTable);
  const [first] = tables;
  if (first && tables.every((table) => table !== undefined)) {
    return { columns: first.columns, rows: tables.flatMap(({ rows }) => rows) };
  }
  const objects = answers.flatMap((answer) => {
    const { items } = answer as { readonly items?: readonly AnyObject[] | null };
    return items === undefined ? [answer as AnyObject] : (items ?? []);
  });
  return tableOf(await columnsFor(api, kind, signal), objects, io.ports.clock.now());
}

async function columnsFor(api: Api, kind: ServedResource, signal: AbortSignal): Promise<readonly Column[]> {
  const known = knownColumns(kind);
  if (known) return known;
  try {
    const path = `${DEFINITIONS}/${encodeURIComponent(`${kind.plural}.${kind.group}`)}`;
    return customColumns((await api.client.read(path, { signal })) as unknown as AnyObject, kind.version);
  } catch {
    signal.throwIfAborted();
    return customColumns(undefined, kind.version); // a kind of the server's own, or a definition that we may not read
  }
}

async function watch(line: GetLine, api: Api, group: Group): Promise<ExitCode> {
  const { io, values, signal } = line;
  const { kind, names, namespace } = group;
  const [name] = names;
  const form = values.output ?? 'table';
  const isTable = form === 'table' || form === 'wide';
  const columns = isTable ? await columnsFor(api, kind, signal) : [];
  const printer = printerFor(line, group, false);
  const print = (objects: readonly AnyObject[]): void => {
    if (isTable) io.out(printer.text(tableOf(columns, objects, io.ports.clock.now())));
    else for (const object of objects) io.out(objectText(object, form as ObjectForm));
  };
  const selection = {
    ...(values.selector !== undefined && { labelSelector: values.selector }),
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
  };
  await follow(
    api.client.resource(kind, namespace),
    selection,
    { clock: io.ports.clock, signal },
    {
      all: print,
      changed: (object) => print([object]),
      lost: (error) => io.err(`${error.message}; trying again\n`),
    },
  );
  return exit.ok;
}
