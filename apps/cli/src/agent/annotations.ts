/** Where a server lives, as its agent is told: by options, and in a pod by its environment. */
import { MOST_ANNOTATION_BYTES } from '@reeve/redis';
import { usage } from '../errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What a pod can be told of its worker node. */
const FROM_ENV = { host: 'NODE_NAME', zone: 'NODE_ZONE', region: 'NODE_REGION' } as const;

/** Options win over the environment, and of equal keys the last. */
export function annotationsFrom(env: Env, given: readonly string[]): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const [key, name] of Object.entries(FROM_ENV)) {
    const value = env[name];
    if (value !== undefined && value !== '') all[key] = value;
  }
  for (const text of given) {
    const match = /^([A-Za-z][\w./-]{0,62})=(.+)$/.exec(text);
    if (!match) throw usage(`--annotate '${text}': KEY=VALUE, for example zone=a`);
    all[match[1] as string] = match[2] as string;
  }
  const bytes = Buffer.byteLength(JSON.stringify(all));
  if (bytes > MOST_ANNOTATION_BYTES) {
    throw usage(`the annotations are ${bytes} bytes long; the most is ${MOST_ANNOTATION_BYTES}`);
  }
  return all;
}
