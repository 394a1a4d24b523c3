/** `reeve events`: what happened, the newest last. */
import { type AnyObject, resource, type Selection, servedResources } from '@reeve/kube';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import { styleFor } from '../output/style.ts';
import { type Api, withApi } from './api.ts';
import { eventColumns, eventTime } from './columns.ts';
import { follow } from './follow.ts';
import { readWanted, resolveKind } from './kinds.ts';
import { type ObjectForm, objectsText, objectText } from './print.ts';
import type { eventsOptions } from './spec.ts';
import { TablePrinter, tableOf } from './table.ts';

type EventsLine = CommandLine<typeof eventsOptions>;

const events = resource({ group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true });

export async function run(line: EventsLine): Promise<ExitCode> {
  const { io, values, words, signal } = line;
  if (words.length > 1 || (words[0] !== undefined && !words[0].includes('/'))) {
    throw usage('reeve events takes KIND/NAME, or nothing');
  }
  if (values['all-namespaces'] && values.namespace !== undefined) {
    throw usage('--namespace and --all-namespaces exclude each other');
  }
  return withApi(line, async (api) => {
    const { namespace, selection, about } = await placeOf(line, api);
    const client = api.client.resource(events, namespace);
    const form = values.output ?? 'table';
    const layout = { isWide: false, withNamespace: values['all-namespaces'], prefix: '' };
    const printer = new TablePrinter(layout, styleFor(io.outIsTerminal, io.env));
    const print = (list: readonly AnyObject[]): void => {
      if (form === 'table') io.out(printer.text(tableOf(eventColumns, list, io.ports.clock.now())));
      else for (const event of list) io.out(objectText(event, form as ObjectForm));
    };
    if (!values.watch) {
      const list = byTime((await client.listAll({ ...selection, signal })).items);
      // Events outlive what they are about. Of what is not there either, nothing will ever be told.
      if (list.length === 0) await about?.();
      if (form !== 'table') io.out(objectsText(list, form as ObjectForm, true));
      else if (list.length > 0) print(list);
      else io.err(`no events${namespace === undefined ? '' : ` in namespace ${namespace}`}\n`);
      return exit.ok;
    }
    await follow(
      client,
      selection,
      { clock: io.ports.clock, signal },
      {
        all: (list) => print(byTime(list)),
        // That the server forgets an event is none.
        changed: (event, isDeleted) => {
          if (!isDeleted) print([event]);
        },
        lost: (error) => io.err(`${error.message}; trying again\n`),
      },
    );
    return exit.ok;
  });
}

const byTime = (list: readonly AnyObject[]): readonly AnyObject[] =>
  list.toSorted((a, b) => Date.parse(eventTime(a) ?? '') - Date.parse(eventTime(b) ?? ''));

interface Place {
  readonly namespace: string | undefined;
  readonly selection: Selection;
  /** Reads the one object that they are about; throws if it is not there. */
  readonly about?: () => Promise<unknown>;
}

/** Where the events are, and which: those of things that live in no namespace are in `default`. */
async function placeOf({ words, values, signal }: EventsLine, api: Api): Promise<Place> {
  const namespace = values['all-namespaces'] ? undefined : api.namespace;
  const [wanted] = words.length === 0 ? [] : readWanted(words);
  if (!wanted) return { namespace, selection: {} };
  const served = resolveKind(await servedResources(api.client, { signal }), wanted.kind);
  const { kind, namespaced } = served;
  const [name = ''] = wanted.names;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const place = {
    namespace: namespaced || namespace === undefined ? namespace : 'default',
    selection: { fieldSelector },
  };
  if (namespaced && namespace === undefined) return place;
  const home = api.client.resource(resource(served), namespaced ? namespace : undefined);
  return { ...place, about: () => home.get(name, { signal }) };
}
