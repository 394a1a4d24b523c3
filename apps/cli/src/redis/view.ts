/** A cluster and its findings as text, with colours where they help. */
import { type ClusterView, type Finding, printFindings, printView } from '@reeve/redis';
import { formatCount, plural } from '../output/format.ts';
import type { Style } from '../output/style.ts';
import type { ClusterPicture } from './picture.ts';

/** One line that says how the cluster is, then a row for each node. */
export function viewText(view: ClusterView, picture: ClusterPicture, style: Style): string {
  const { state, shards, others } = picture;
  const replicas = [...shards.flatMap((shard) => shard.replicas), ...others].filter(({ role }) => role === 'replica');
  const head = [
    (state === 'ok' ? style.green : style.red)(`cluster_state ${state}`),
    `${formatCount(picture.slotsCovered)} of 16,384 slots`,
    plural(shards.length, 'primary', 'primaries'),
    plural(replicas.length, 'replica'),
    plural(picture.keys, 'key'),
    `epoch ${picture.currentEpoch}`,
  ];
  const [titles = '', ...rows] = printView(view).split('\n');
  return [`${picture.servers.join(', ') || 'no server'}: ${head.join(', ')}`, '', style.bold(titles), ...rows].join(
    '\n',
  );
}

export function findingsText(findings: readonly Finding[], style: Style): string {
  const paint = { broken: style.red, degraded: style.yellow, info: style.dim, Clean: style.green } as const;
  return printFindings(findings)
    .split('\n')
    .map((line) => {
      const severity = /^(broken|degraded|info|Clean)(?=:)/.exec(line)?.[1] as keyof typeof paint | undefined;
      return severity ? paint[severity](line) : line;
    })
    .join('\n');
}
