/** What an API server has before a run begins. Made once, so that a thousand runs need not create it a thousand times. */
import { ApiServer, type CustomRules, type Kept, memoryJournal, schemaRules, Store } from '@reeve/embedded';
import { prng } from '../random.ts';
import { EPOCH_MS } from '../clock.ts';

export interface SnapshotOptions {
  /** Beside the first ones of every server. */
  readonly namespaces?: readonly string[];
  /** CustomResourceDefinitions. */
  readonly definitions?: readonly object[];
}

export interface Snapshot {
  readonly kept: Kept;
  /** Schemas are compiled once. They keep nothing from object to object. */
  readonly rules: CustomRules;
}

export async function snapshotOf({ namespaces = [], definitions = [] }: SnapshotOptions): Promise<Snapshot> {
  const journal = memoryJournal();
  const clock = { now: () => EPOCH_MS, sleep: () => new Promise<void>(() => undefined) };
  const store = await Store.open({ journal, clock });
  const server = await ApiServer.open({ store, clock, random: prng(1) });
  const transport = server.transport();
  const create = async (path: string, object: object) => {
    const { status, body } = await transport({ method: 'POST', path, body: JSON.stringify(object) });
    if (status !== 201) throw new Error(`${path}: ${Buffer.from(body as Uint8Array).toString()}`);
  };
  for (const name of namespaces) await create('/api/v1/namespaces', { metadata: { name } });
  for (const definition of definitions) {
    await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  server.close();
  await store.close();
  return { kept: await journal.load(), rules: remembered(schemaRules) };
}

function remembered(rulesOf: CustomRules): CustomRules {
  const known = new Map<string, ReturnType<CustomRules>>();
  return (crd, version) => {
    const text = `${version} ${JSON.stringify(crd.spec)}`;
    const rules = known.has(text) ? known.get(text) : rulesOf(crd, version);
    known.set(text, rules);
    return rules;
  };
}
