/** Verbs that change a cluster: the shared options, the session, and the resolution of nodes; the rest is operate.ts. */
import { isIP } from 'node:net';
import type { ClusterView, Endpoint, Engine, NodeId, Operation, Pace } from '@reeve/redis';
import { openJournal } from '@reeve/redis';
import type { CommandSpec, OptionSpecs, Values } from '../args.ts';
import { usage } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseEndpoint, resolveNode } from './address.ts';
import { checkOperationValues, operate } from './operate.ts';
import {
  connectionOptions,
  declaredOptions,
  groups,
  moveOptions,
  operationOptions,
  outputOptions,
  placementOptions,
} from './options.ts';
import { mustSeeSomething, openSession, resolveEndpoint, type Session } from './session.ts';
import { defineVerb, type Verb } from './verb.ts';

const common = {
  ...connectionOptions,
  ...placementOptions,
  ...outputOptions,
  ...operationOptions,
  ...moveOptions,
  ...declaredOptions,
};

export interface RequestContext<Specs extends OptionSpecs> {
  readonly values: Values<Specs & typeof common>;
  /** The addresses given. */
  readonly endpoints: readonly Endpoint[];
  readonly session: Session;
  /** The cluster as it is now, read once. */
  readonly view: () => Promise<ClusterView>;
  /** A node by id prefix or host:port. */
  readonly node: (text: string) => Promise<NodeId>;
  /** Another address, its host name resolved. */
  readonly resolve: (endpoint: Endpoint) => Promise<Endpoint>;
  readonly engine: Engine;
  readonly pace: Pace;
}

export interface OperationVerbDefinition<Specs extends OptionSpecs, Request, Goal> {
  readonly name: string;
  readonly takes: string;
  readonly summary: string;
  readonly description: readonly string[];
  readonly examples: CommandSpec['examples'];
  readonly options: Specs;
  /** The addresses are those of servers that are no cluster yet, and are judged by the operation. */
  readonly newServers?: true;
  /** Slots move: shows --fast, --engine, --experimental. */
  readonly moves: boolean;
  /** A name in place of addresses: the plan of this kind that waits in the status of that RedisCluster is approved. */
  readonly approves?: true;
  /** Picks the operation where a verb has several. */
  operation(values: Values<Specs & typeof common>): Operation<Request, Goal>;
  request(context: RequestContext<Specs>): Promise<Request>;
}

export function defineOperationVerb<Specs extends OptionSpecs, Request, Goal>(
  definition: OperationVerbDefinition<Specs, Request, Goal>,
): Verb {
  const { name, takes, summary, description, examples, options } = definition;
  const own = Object.keys(options).length > 0 ? [{ title: 'Options', options }] : [];
  return defineVerb<Specs & typeof common>({
    name,
    takes,
    summary,
    description,
    examples,
    specs: { ...options, ...common },
    keepsJournal: true,
    groups: [
      ...own,
      groups.operation,
      ...(definition.moves ? [groups.moves] : []),
      ...(definition.approves ? [groups.declared] : []),
      groups.output,
      groups.placement,
      groups.connection,
    ],
    async run({ words, values, io, signal }) {
      checkOperationValues(values);
      const [first = ''] = words;
      if (definition.approves && words.length === 1 && isName(first)) {
        const { approveDeclared } = await import('./approve.ts');
        return approveDeclared(first, { io, values, signal, kind: name });
      }
      const { engine, pace } = movement(values);
      if (definition.moves && pace === 'gentle') io.giveWay();
      const endpoints = await addresses(definition, words, values, io);
      const session = await openSession(io, values, endpoints, signal);
      let seen: Promise<ClusterView> | undefined;
      const view = () => {
        seen ??= session.observe().then(mustSeeSomething);
        return seen;
      };
      const node = async (text: string) =>
        resolveNode(await view(), text.includes(':') ? await resolveEndpoint(io, parseEndpoint(text)) : text);
      try {
        const operation = definition.operation(values);
        return await operate({ verb: name, operation, io, values, session, signal }, async () => {
          // A cluster of which nothing can be read is not judged: why it cannot be read is the answer.
          if (!definition.newServers) await view();
          const resolve = (endpoint: Endpoint) => resolveEndpoint(io, endpoint);
          return definition.request({ values, endpoints: session.seeds, session, view, node, resolve, engine, pace });
        });
      } finally {
        await session.close();
      }
    },
  });
}

/** Of a resource: an address has a port. */
function isName(word: string): boolean {
  return /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(word) && isIP(word) === 0;
}

function movement(values: Values<typeof moveOptions>): { readonly engine: Engine; readonly pace: Pace } {
  const engine = (values.engine ?? 'auto') as Engine;
  if (engine === 'redis-atomic' && !values.experimental) {
    throw usage('--engine redis-atomic was tested against the model of a server only: add --experimental to use it');
  }
  return { engine, pace: values.fast ? 'fast' : 'gentle' };
}

/** The addresses on the line; for a journal those that it holds, when none are given. */
async function addresses<Specs extends OptionSpecs, Request, Goal>(
  { name, takes }: OperationVerbDefinition<Specs, Request, Goal>,
  words: readonly string[],
  values: Values<typeof operationOptions>,
  io: Io,
): Promise<readonly Endpoint[]> {
  const endpoints = words.map(parseEndpoint);
  const journal = values.resume ?? values.rollback;
  if (journal !== undefined && endpoints.length === 0) {
    return (await openJournal(io.ports.files, io.ports.clock, journal)).journal.header.seeds;
  }
  if (endpoints.length === 0) throw usage(`no address given: reeve redis ${name} ${takes}`);
  const twice = words.find((word, index) => words.indexOf(word) !== index);
  if (twice !== undefined) throw usage(`${twice} is given twice`);
  return endpoints;
}
