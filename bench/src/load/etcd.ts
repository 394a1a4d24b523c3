/**
 * Changes of objects below the server, in its etcd. To its watchers they are changes like any other: it reads them from there, decodes and
 * tells them. A patch by way of the server costs it ten times as much as the event that follows, and a small machine could not make the
 * events that followers are measured with.
 */
import { Agent, request } from 'node:http';
import { NAMESPACE, nameOf, type ResourceName, revisionText, REVISION_MARK } from '../kubernetes/objects.ts';

const FOLDERS: Readonly<Record<ResourceName, string>> = {
  widgets: `/registry/bench.reeve.dev/widgets/${NAMESPACE}`,
  pods: `/registry/pods/${NAMESPACE}`,
};

interface Range {
  readonly kvs?: readonly { readonly value: string }[];
}

export class Etcd {
  readonly #url: string;
  readonly #agent: Agent;
  /** What nobody else changes: to ask for it again would be half of the work, on processors that others are measured on. */
  readonly #read = new Map<string, Buffer>();

  constructor(url: string, connections: number) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /**
   * Gives an object another revision, and changes nothing else of it.
   * @returns the version of the whole store after it.
   */
  async rewrite(resource: ResourceName, number: number, revision: number, isShared: boolean): Promise<number> {
    const name = `${FOLDERS[resource]}/${nameOf(resource, number)}`;
    const key = Buffer.from(name).toString('base64');
    const known = isShared ? undefined : this.#read.get(name);
    const stored = known ?? (await this.#stored(name, key));
    const value = withRevision(resource, stored, revision).toString('base64');
    const { header } = (await this.#call('put', { key, value })) as { readonly header: { readonly revision: string } };
    return Number(header.revision);
  }

  async #stored(name: string, key: string): Promise<Buffer> {
    const { kvs } = (await this.#call('range', { key })) as Range;
    const text = kvs?.[0]?.value;
    if (text === undefined) throw new Error(`etcd has no ${name}`);
    const stored = Buffer.from(text, 'base64');
    this.#read.set(name, stored);
    return stored;
  }

  #call(what: 'range' | 'put', order: object): Promise<unknown> {
    const body = JSON.stringify(order);
    const options = {
      method: 'POST',
      agent: this.#agent,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(`${this.#url}/v3/kv/${what}`, options, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if (answer.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`etcd ${what}: ${answer.statusCode} ${text}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}

/**
 * Custom resources are stored as JSON, Pods as protobuf. All revisions have the same length, so that no length before them changes. The
 * mark stands in the managed fields, too, where no revision follows.
 */
export function withRevision(resource: ResourceName, stored: Buffer, revision: number): Buffer {
  const text = revisionText(revision);
  const mark = REVISION_MARK[resource];
  for (let at = stored.indexOf(mark); at >= 0; at = stored.indexOf(mark, at + 1)) {
    const from = at + mark.length;
    if (!/^\d+$/.test(stored.toString('latin1', from, from + text.length))) continue;
    const changed = Buffer.from(stored);
    changed.write(text, from, 'latin1');
    return changed;
  }
  throw new Error(`an object of ${resource} as etcd has it shows no revision`);
}
