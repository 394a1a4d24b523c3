/** The whole cluster: every node's own view, found by following the node tables, merged without settling disagreements. */
import { asReeveError, type Clock } from '@reeve/runtime';
import type { Needs } from '../api/operation.ts';
import type { RedisPort } from '../api/port.ts';
import { type ClusterView, type Endpoint, formatEndpoint, type NodeLine } from '../api/view.ts';
import { type Answered, type Failed, mergeViews } from './merge.ts';
import { type Answer, DEFAULT_TIMEOUT_MS, type Reading, readNode } from './node.ts';
import { NodeTableReader } from './tables.ts';

export interface ObserveOptions extends Needs {
  /** Host, zone and other placement keys of an address. `host` defaults to the address. */
  readonly annotations?: (endpoint: Endpoint) => Readonly<Record<string, string>>;
  /** Follow node tables to all members. Default true. */
  readonly discover?: boolean;
  /** For each batch of commands to a node. Default 5000. */
  readonly timeoutMs?: number;
}

export async function observeCluster(
  port: RedisPort,
  ports: { readonly clock: Clock },
  seeds: readonly Endpoint[],
  options: ObserveOptions,
): Promise<ClusterView> {
  const observedAt = ports.clock.now();
  const reading: Reading = {
    port,
    needs: options,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    tables: new NodeTableReader(),
  };
  const answered: Answered[] = [];
  const failed: Failed[] = [];
  const asked = new Set<string>();
  // By the numbers of lines, which tables share: of a million a thousand are looked at.
  const followed: boolean[] = [];
  let unfollowed = 0;

  async function visit(endpoint: Endpoint): Promise<void> {
    const key = formatEndpoint(endpoint);
    if (asked.has(key)) return;
    asked.add(key);
    try {
      const answer = await readNode(reading, endpoint);
      answered.push({ endpoint, ...answer });
      if (options.discover !== false) await Promise.all(follow(answer).map(visit));
    } catch (error) {
      const { code, message } = asReeveError(error);
      failed.push({ endpoint, code, why: message });
    }
  }

  function follow({ report: { others }, numbers }: Answer): readonly Endpoint[] {
    for (; followed.length < reading.tables.lineCount; unfollowed++) followed.push(false);
    const endpoints: Endpoint[] = [];
    for (let index = 0; unfollowed > 0 && index < numbers.length; index++) {
      const number = numbers[index] as number;
      if (followed[number]) continue;
      followed[number] = true;
      unfollowed--;
      const line = others[index] as NodeLine;
      // A handshake has a made-up id and is no member yet; without an address there is nobody to ask.
      if (line.flags.includes('handshake') || line.host === '' || line.port === 0) continue;
      endpoints.push({ host: line.host, port: line.port });
    }
    return endpoints;
  }

  await Promise.all([...seeds, ...(options.alsoAsk ?? [])].map(visit));
  const { annotations: annotate } = options;
  const { lineCount } = reading.tables;
  return { observedAt, ...mergeViews(answered, failed, { lineCount, ...(annotate && { annotate }) }) };
}
