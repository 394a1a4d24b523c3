/** What people ask of a cluster of 3+3: other sizes, slots elsewhere, another primary. */
import assert from 'node:assert/strict';
import { isEven, shares } from './shares.ts';
import type { Step } from './stage.ts';

export const scale: Step = {
  name: 'scale 3 → 6 → 3',
  async run(stage) {
    const { site, subject } = stage;
    await stage.declare({ primaries: 6 });
    await stage.whole(6, 'it has grown');
    await site.settled(subject.name, 'slots are even over six', (status) => isEven(status, 6));
    await stage.declare({ primaries: 3 });
    await stage.whole(3, 'it has shrunk');
    await site.settled(subject.name, 'slots are even over three', (status) => isEven(status));
  },
};

export const rebalance: Step = {
  name: 'a reshard by hand stays with `rebalance: off`, and is evened out with `automatic`',
  async run(stage) {
    const { site, subject } = stage;
    await stage.declare({ rebalance: { mode: 'off' } });
    const to = (await site.status(subject.name)).members?.find(({ role }) => role === 'primary')?.pod ?? '';
    await stage.done('move', { reshard: { slots: 1_500, to } });
    await site.settled(subject.name, 'the slots are there', (status) => Math.max(...shares(status)) > 6_500);
    await stage.declare({ rebalance: { mode: 'automatic' } });
    await site.settled(subject.name, 'slots are even', (status) => isEven(status));
  },
};

export const weighted: Step = {
  name: 'a rebalance by weights, asked for by a task: one primary gets half of all slots',
  async run(stage) {
    const { site, subject } = stage;
    await stage.declare({ rebalance: { mode: 'off' } });
    const heavy = (await site.status(subject.name)).members?.find(({ role }) => role === 'primary')?.pod ?? '';
    await stage.done('weigh', { rebalance: { weights: { [heavy]: 2 } } });
    await site.settled(subject.name, 'each has its part', (status) => {
      const [half] = shares({ members: (status.members ?? []).filter(({ pod }) => pod === heavy) });
      const parts = [...shares(status)].sort((a, b) => b - a);
      return half === parts[0] && isNear(parts, [8_192, 4_096, 4_096]);
    });
    await stage.declare({ rebalance: { mode: 'automatic' } });
    await site.settled(subject.name, 'slots are even', (status) => isEven(status));
  },
};

function isNear(parts: readonly number[], wanted: readonly number[]): boolean {
  return parts.length === wanted.length && parts.every((part, at) => Math.abs(part - (wanted[at] ?? 0)) <= 100);
}

export const failover: Step = {
  name: 'a failover asked for by a task',
  async run(stage) {
    const { site, subject } = stage;
    const to = (await site.status(subject.name)).members?.find(({ role }) => role === 'replica')?.pod ?? '';
    await stage.done('over', { failover: { to } });
    await stage.whole();
    const { members = [] } = await site.status(subject.name);
    assert.equal(members.find(({ pod }) => pod === to)?.role, 'primary', 'whoever was asked for is one, and stays it');
  },
};
