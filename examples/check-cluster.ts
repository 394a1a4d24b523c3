/**
 * Reeve as a library: look at a cluster, judge it, and see what a rebalance would do. Changes nothing.
 *
 *     node examples/check-cluster.ts 127.0.0.1:7000
 */
import {
  checkCluster,
  connectRedis,
  type Endpoint,
  observeCluster,
  printDecision,
  printFindings,
  printView,
  rebalanceOperation,
} from '@reeve/redis';
import { systemPorts } from '@reeve/runtime';

export async function describeCluster(seed: Endpoint): Promise<string> {
  const redis = connectRedis({}, systemPorts);
  try {
    const view = await observeCluster(redis, systemPorts, [seed], {});
    const decision = rebalanceOperation.decide(
      { by: 'slots', weights: {}, threshold: 2, useEmpty: true, engine: 'auto', pace: 'gentle' },
      view,
    );
    return [printView(view), printFindings(checkCluster(view)), printDecision(decision)].join('\n\n');
  } finally {
    await redis.close();
  }
}

if (import.meta.main) {
  const [host = '127.0.0.1', port = '6379'] = (process.argv[2] ?? '').split(':');
  console.log(await describeCluster({ host, port: Number(port) }));
}
