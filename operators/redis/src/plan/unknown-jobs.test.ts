import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknown } from '@reeve/runtime';
import type { NodeReport } from '../api/view.ts';
import { checkCluster, isClean } from './check.ts';
import { movesGate } from './moves-gate.ts';
import { clusterNodes, viewOfNodes } from './testing.ts';

test('a node that does not tell of its atomic migrations may have some: no slot is moved, and check says why', () => {
  const nodes = clusterNodes({ primaries: 3 }).map((node, index) =>
    index === 1
      ? { ...node, report: (report: NodeReport): NodeReport => ({ ...report, atomicJobs: unknown('not permitted') }) }
      : node,
  );
  const view = viewOfNodes(nodes);
  assert.deepEqual(
    movesGate(view).refused.map(({ code, subjects }) => [code, subjects]),
    [['SLOTS_BUSY', [nodes[1]?.id]]],
  );
  const findings = checkCluster(view);
  assert.match(findings.find(({ code }) => code === 'ATOMIC_JOB')?.message ?? '', /is not known: not permitted/);
  assert.equal(isClean(findings), true);
});
