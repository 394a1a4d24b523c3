/** One racer on one freshly made stage, with the measuring client running all the time. */
import { type Product, serverCheck, until } from '@reeve/rig';
import { Child } from './child.ts';
import type { LoadOptions, LoadReport, VerifyReport } from './load-client.ts';
import { type Racer, SLOTS } from './racer.ts';
import { type Dataset, prepare, slotsMoved } from './stage.ts';

export interface Race {
  readonly product: Product;
  readonly dataset: string;
  readonly racer: string;
  readonly ms: number;
  /** The client while the racer was at work. */
  readonly client: LoadReport;
  /** Its p99 right before: what the machine does by itself. */
  readonly idleP99: number;
  readonly lost: number;
}

const WRITES_PER_SECOND = 2_000;
/** Keys the client writes to when the dataset has none. */
const KEYS_OF_EMPTY = 1_000;
const WARM_UP_MS = 700;
const AGREE_MS = 30_000;

export async function race(product: Product, dataset: Dataset, racer: Racer): Promise<Race> {
  const stage = await prepare(product, dataset);
  const client = new Child('./load-client.ts');
  try {
    const options: LoadOptions = {
      endpoints: stage.cluster.endpoints,
      perSecond: WRITES_PER_SECOND,
      keys: dataset.keys || KEYS_OF_EMPTY,
      valueBytes: dataset.valueBytes || 16,
    };
    await client.ask({ order: 'start', options });
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    const idle = await client.ask<LoadReport>({ order: 'report' });
    const ms = await racer.race(stage, async () => {
      await client.ask({ order: 'report' }); // what was before does not count
    });
    const during = await client.ask<LoadReport>({ order: 'report' });
    const { report: after, verified } = await client.ask<{ report: LoadReport; verified: VerifyReport }>({
      order: 'finish',
    });
    const areMoved = async () => (await slotsMoved(stage)) === SLOTS;
    await until('the nodes agree that the slots are moved', areMoved, { timeoutMs: AGREE_MS, everyMs: 50 });
    const check = await serverCheck(product, stage.seed);
    if (check.code !== 0) throw new Error(`${racer.name}: the cluster is not in order: ${check.output.slice(-400)}`);
    return {
      product,
      dataset: dataset.name,
      racer: racer.name,
      ms,
      client: { ...during, errors: [...during.errors, ...after.errors] },
      idleP99: idle.p99,
      lost: verified.wrong,
    };
  } finally {
    await client.end();
    await stage.cluster.stop();
  }
}
