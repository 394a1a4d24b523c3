/** `reeve logs`: what a container wrote. */
import { type AnyObject, resource, resourcePath } from '@reeve/kube';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import { withApi } from './api.ts';
import type { logsOptions } from './spec.ts';

const pods = resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

export async function run(line: CommandLine<typeof logsOptions>): Promise<ExitCode> {
  const { io, values, words, signal } = line;
  const [word, more] = words;
  if (word === undefined) throw usage('no pod given: reeve logs POD');
  if (more !== undefined) throw usage(`reeve logs takes one pod; what is '${more}'? -c CONTAINER names a container`);
  const name = podName(word);
  return withApi(line, async ({ client, namespace }) => {
    const pod = await client.resource(pods, namespace).get(name, { signal });
    const container = containerIn(pod, values.container);
    if (values.container === undefined && containersOf(pod).length > 1) {
      io.err(
        `container ${container}; others: ${containersOf(pod)
          .filter((one) => one !== container)
          .join(', ')}\n`,
      );
    }
    const query = new URLSearchParams({
      ...(container !== undefined && { container }),
      ...(values.follow && { follow: 'true' }),
      ...(values.previous && { previous: 'true' }),
      ...(values.tail !== undefined && { tailLines: String(values.tail) }),
    });
    const path = `${resourcePath(pods, namespace, name, 'log')}?${query.toString()}`;
    try {
      using streamed = await client.stream(path, { signal });
      for await (const chunk of streamed.chunks) await io.pass('out', chunk, signal);
    } catch (error) {
      // Ctrl-C is how one stops looking on.
      if (!signal.aborted || !values.follow) throw error;
    }
    return exit.ok;
  });
}

/** `web-0`, `pod/web-0`. */
export function podName(word: string): string {
  const [kind, name, ...more] = word.split('/');
  if (name === undefined) return word;
  if (!['pod', 'pods', 'po'].includes(kind ?? '') || name === '' || more.length > 0) {
    throw usage(`'${word}' is no pod: POD or pod/POD`);
  }
  return name;
}

type Named = readonly { readonly name: string }[];

interface PodSpec {
  readonly containers?: Named;
  readonly initContainers?: Named;
  readonly ephemeralContainers?: Named;
}

const containersOf = ({ spec }: AnyObject): readonly string[] =>
  ((spec as PodSpec | undefined)?.containers ?? []).map(({ name }) => name);

/** The one that was named, which must be there; else the usual one. */
export function containerIn(pod: AnyObject, named: string | undefined): string | undefined {
  if (named === undefined) return defaultContainer(pod);
  const { containers = [], initContainers = [], ephemeralContainers = [] } = (pod.spec ?? {}) as PodSpec;
  const all = [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name);
  if (all.includes(named)) return named;
  const message = `pod ${pod.metadata.name} has no container ${named}; it has ${all.join(', ')}`;
  throw cliError('CONTAINER_UNKNOWN', message, [named]);
}

function defaultContainer(pod: AnyObject): string | undefined {
  const names = containersOf(pod);
  const wished = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  return wished !== undefined && names.includes(wished) ? wished : names[0];
}
