import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { done, type DoneCheck, type Outcome } from '../command/command.ts';
import type { AnyHandler } from '../command/executor.ts';
import { crdOf } from '../schema/kind.ts';
import { toYaml } from '../schema/yaml.ts';
import { Field, LEASES, order } from './agent-testing.ts';
import { LeaseWatch } from './lease.ts';
import { isReportCurrent, memberKind } from './member.ts';
import { AGENT_ROLE, hostAgentRights, memberWritePolicy, podAgentRights, podAgentRole } from './policy.ts';
import { reportOf } from './report.ts';

interface Node {
  readonly runs: string[];
  readonly checks: string[];
  check: DoneCheck;
}
const node = (): Node => ({ runs: [], checks: [], check: 'unknown' });

/** Says a word at once; `hang` never ends unless it is stopped. */
const say: AnyHandler<Node> = {
  type: 'say',
  run: async (command: { readonly word: string }, { runs }: Node, signal: AbortSignal) => {
    runs.push(command.word);
    if (!command.word.startsWith('hang')) return done;
    const ended = Promise.withResolvers<Outcome>();
    signal.addEventListener('abort', () => ended.resolve({ status: 'failed', code: 'STOPPED', message: 'stopped' }));
    return { progress: () => undefined, settled: ended.promise };
  },
  isDone: async (command: { readonly word: string }, { checks, check }: Node) => {
    checks.push(command.word);
    return check;
  },
};

const statusWrites = ({ requests }: Field) => requests.filter((request) => /^PUT .*\/pod-0\/status/.test(request));

test('a report is written when it changes and not otherwise; the lease says that the agent lives', async () => {
  const field = await Field.open();
  await field.agent([say], node());
  assert.deepEqual(field.member.status?.report, { facts: { role: 'primary' }, digest: 'v1-0' });
  assert.deepEqual(field.member.status?.agent, { version: '1.0.0', capabilities: ['say'] });
  assert.equal(field.member.status?.observedGeneration, 1);
  assert.ok(isReportCurrent(field.member));
  await field.write({ fence: 1 });
  assert.ok(!isReportCurrent(field.member), 'it looked before this was written');
  await field.clock.advance(2_500);
  assert.ok(isReportCurrent(field.member));
  const before = statusWrites(field).length;
  await field.clock.advance(60_000);
  assert.equal(statusWrites(field).length, before, 'a minute of nothing new');
  const renewals = field.writes.filter(({ resource }) => resource === LEASES).length;
  assert.ok(renewals >= 6 && renewals <= 8, `${renewals} renewals in a minute`);
  field.facts = { role: 'replica' };
  await field.clock.advance(2_000);
  assert.equal(statusWrites(field).length, before + 1);
  assert.deepEqual(field.member.status?.report?.facts, { role: 'replica' });
  await field.close();
});

test('a node that cannot be read is reported as unknown, its facts as old', async () => {
  const field = await Field.open();
  let isDown = false;
  await field.agent([say], node(), {
    observe: async () => {
      if (isDown) throw new Error('connection refused');
      return { facts: { role: 'primary' } };
    },
  });
  isDown = true;
  await field.clock.advance(2_000);
  assert.deepEqual(field.member.status?.report, { facts: { role: 'primary' }, unknown: 'connection refused' });
  isDown = false;
  await field.clock.advance(2_000);
  assert.deepEqual(field.member.status?.report, { facts: { role: 'primary' } });
  await field.close();
});

test('a report of more than 2 KB is refused, and the status says so instead of half a fact', async () => {
  assert.throws(() => reportOf({ facts: { view: 'x'.repeat(2_100) } }), { code: 'MEMBER_REPORT_SIZE' });
  assert.throws(() => reportOf({ facts: {}, digest: 'x'.repeat(129) }), { code: 'MEMBER_REPORT_SIZE' });
  const field = await Field.open();
  field.facts = { view: 'x'.repeat(2_100) };
  await field.agent([say], node());
  assert.match(field.member.status?.report?.unknown ?? '', /the most is 2048/);
  assert.equal(field.member.status?.report?.facts, undefined);
  await field.close();
});

test('a member that is deleted takes what runs for it along', async () => {
  const field = await Field.open();
  const world = node();
  const told: string[] = [];
  const stoppable: AnyHandler<Node> = {
    ...say,
    run: (command, context, signal) => {
      signal.addEventListener('abort', () => told.push('stopped'));
      return say.run(command, context, signal);
    },
  };
  await field.agent([stoppable], world);
  await field.write({ orders: [order('hang')] });
  await field.clock.advance(2_000);
  assert.deepEqual([world.runs, told], [['hang'], []]);
  await field.objects.delete('pod-0');
  await field.clock.advance(1_000);
  assert.deepEqual(told, ['stopped']);
  await field.close();
});

test('an order is recorded before it is begun, and begun once per attempt', async () => {
  const field = await Field.open();
  const world = node();
  const seen: string[] = [];
  const watching: AnyHandler<Node> = {
    ...say,
    run: (command, context, signal) => {
      seen.push(field.phases.join());
      return say.run(command, context, signal);
    },
  };
  await field.agent([watching], world);
  await field.write({ orders: [order('a')] });
  await field.clock.advance(3_000);
  assert.deepEqual(seen, ['a Started']);
  assert.deepEqual(field.phases, ['a Done']);
  await field.write({ orders: [order('a'), order('b')] });
  await field.clock.advance(3_000);
  await field.write({ orders: [order('a', { attempt: 2 }), order('b')] });
  await field.clock.advance(3_000);
  assert.deepEqual(world.runs, ['a', 'b', 'a']);
  assert.deepEqual(
    field.results.map(({ id, attempt, phase }) => `${id}#${attempt} ${phase}`),
    ['a#2 Done', 'b#1 Done'],
  );
  await field.close();
});

test('after a crash the agent asks the world: done, not done or unknown, and begins nothing again', async () => {
  for (const [check, phase] of [
    ['done', 'Done'],
    ['not-done', 'NotDone'],
    ['unknown', 'Unknown'],
  ] as const) {
    const field = await Field.open();
    const world = node();
    const first = await field.agent([say], world);
    await field.write({ orders: [order('hang')] });
    await field.clock.advance(2_000);
    assert.deepEqual(field.phases, ['hang Started']);
    first.kill();
    world.check = check;
    await field.agent([say], world);
    // The lease of the dead life must run out first: nobody can know that it is dead.
    await field.clock.advance(20_000);
    assert.deepEqual(field.phases, ['hang Started']);
    await field.clock.advance(15_000);
    assert.deepEqual(field.phases, [`hang ${phase}`]);
    assert.deepEqual(world.checks, ['hang']);
    assert.deepEqual(world.runs, ['hang']);
    // Only a new attempt begins it again.
    await field.write({ orders: [order('hang', { attempt: 2 })] });
    await field.clock.advance(2_000);
    assert.deepEqual(world.runs, ['hang', 'hang']);
    await field.close();
  }
});

test('an agent in a new pod is silent until its member says that it is the one', async () => {
  const field = await Field.open();
  const world = node();
  await field.write({ orders: [order('a')] });
  await field.agent([say], world, { podUid: 'successor' });
  await field.clock.advance(5_000);
  assert.deepEqual([world.runs, field.member.status], [[], undefined]);
  await field.write({ pod: { name: 'pod-0', uid: 'successor' } });
  await field.clock.advance(3_000);
  assert.deepEqual(world.runs, ['a']);
  await field.close();
});

test('an agent of another pod does not hold the lease of the member: the right one need not wait for it', async () => {
  const field = await Field.open();
  await field.agent([say], node(), { podUid: 'another' });
  await field.clock.advance(10_000);
  assert.deepEqual(
    field.writes.filter(({ resource }) => resource === LEASES),
    [],
  );
  await field.agent([say], node(), { podUid: 'pod-uid' });
  await field.clock.advance(5_000);
  assert.deepEqual(field.member.status?.report?.facts, { role: 'primary' });
  await field.close();
});

test('a done-check that never answers is unknown after a while, and keeps nothing else waiting', async () => {
  const field = await Field.open();
  const world = node();
  const deaf: AnyHandler<Node> = { ...say, isDone: () => new Promise(() => undefined) };
  const first = await field.agent([deaf], world, { podUid: 'pod-uid' });
  await field.write({ orders: [order('hang')] });
  await field.clock.advance(2_000);
  first.kill();
  await field.agent([deaf], world, { podUid: 'pod-uid' });
  await field.write({ orders: [order('hang'), order('b')] });
  await field.clock.advance(3_000);
  assert.deepEqual(field.phases, ['hang Started', 'b Done']);
  await field.clock.advance(30_000);
  assert.deepEqual(field.phases, ['hang Unknown', 'b Done']);
  await field.close();
});

test('split brain: orders of a manager of the past are refused', async () => {
  const field = await Field.open();
  const world = node();
  await field.agent([say], world);
  await field.write({ orders: [order('new', { lease: 5 })] });
  await field.clock.advance(2_000);
  await field.write({ orders: [order('new', { lease: 5 }), order('old', { lease: 4 })] });
  await field.clock.advance(2_000);
  assert.deepEqual(world.runs, ['new']);
  assert.deepEqual(
    field.results.map(({ id, code }) => [id, code]),
    [
      ['new', undefined],
      ['old', 'ORDER_FENCED'],
    ],
  );
  assert.equal(field.member.status?.highestLease, 5);
  await field.close();
});

test('an order is stopped when it is cancelled, taken away, replaced by another attempt, or out of time', async () => {
  const cases: readonly [string, (field: Field) => Promise<void> | void, readonly string[]][] = [
    ['cancelled', (field) => field.write({ orders: [order('hang', { cancel: true })] }), ['hang Cancelled']],
    ['taken away', (field) => field.write({ orders: [] }), []],
    [
      'replaced',
      (field) => field.write({ orders: [order('hang', { attempt: 2, arguments: { word: 'x' } })] }),
      ['hang Done'],
    ],
    ['out of time', () => undefined, ['hang Failed']],
  ];
  for (const [name, change, expected] of cases) {
    const field = await Field.open();
    await field.agent([say], node());
    await field.write({ orders: [order('hang', { deadlineSeconds: 10 })] });
    await field.clock.advance(2_000);
    await change(field);
    await field.clock.advance(10_000);
    assert.deepEqual(field.phases, expected, name);
    if (name === 'out of time') assert.equal(field.results[0]?.code, 'ORDER_DEADLINE');
    await field.close();
  }
});

test('a lease belongs to one life; another takes it when it has not been renewed for 30 s by its own clock', async () => {
  const field = await Field.open();
  const { agent, kill } = await field.agent([say], node());
  const lease = () => field.lease?.spec ?? {};
  assert.equal(lease().holderIdentity, agent.life);
  const watch = new LeaseWatch(field.clock);
  const look = () => {
    watch.told(field.lease ?? assert.fail('there is no lease'));
    return watch.isAlive('member-pod-0');
  };
  assert.equal(watch.isAlive('member-pod-0'), undefined);
  assert.equal(look(), true);
  kill();
  await field.clock.advance(30_000);
  assert.equal(look(), true);
  await field.clock.advance(1);
  assert.equal(look(), false);
  const next = await field.agent([say], node());
  await field.clock.advance(31_000);
  assert.equal(lease().holderIdentity, next.agent.life);
  assert.equal(lease().leaseTransitions, 1);
  await field.close();
});

test('an agent that was started again in the same pod takes over at once', async () => {
  const field = await Field.open();
  const world = node();
  const first = await field.agent([say], world, { podUid: 'pod-uid' });
  await field.write({ orders: [order('hang')] });
  await field.clock.advance(2_000);
  first.kill();
  world.check = 'done';
  await field.agent([say], world, { podUid: 'pod-uid' });
  await field.clock.advance(2_000);
  assert.deepEqual(field.phases, ['hang Done']);
  await field.close();
});

test('the API of a member as one value: CRD with rules, and rights that end at the own member', () => {
  const crd = crdOf(memberKind);
  assert.deepEqual(parse(toYaml(crd)), crd);
  const text = JSON.stringify(crd);
  for (const part of [
    '"maxItems":8',
    'the attempt of an order does not go back',
    '"x-kubernetes-list-map-keys":["id"]',
  ]) {
    assert.ok(text.includes(part), part);
  }
  const [policy, binding] = memberWritePolicy() as unknown as readonly {
    metadata: { name: string };
    spec: { validations: readonly { message: string }[]; policyName: string };
  }[];
  assert.equal(binding?.spec.policyName, policy?.metadata.name);
  assert.deepEqual(
    policy?.spec.validations.map(({ message }) => message),
    [
      'this token is not bound to a pod: it could be anybody’s',
      'only agents of this namespace write here',
      'an agent writes the status of its member and nothing else of it',
      'this is the member of another pod',
      'this is the lease of another member',
    ],
  );
  const role = podAgentRole() as unknown as {
    rules: readonly { resources: readonly string[]; verbs: readonly string[] }[];
  };
  const onMembers = role.rules.filter(({ resources }) => resources.includes('members')).flatMap(({ verbs }) => verbs);
  assert.deepEqual(onMembers, ['get', 'list', 'watch'], 'the spec is the manager’s');
  const given = podAgentRights('ns').map(({ kind, roleRef }) => [kind, roleRef]);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: AGENT_ROLE };
  assert.deepEqual(given, [
    ['ServiceAccount', undefined],
    ['RoleBinding', roleRef],
  ]);
  const host = JSON.stringify(hostAgentRights('ns', 'db1'));
  assert.equal(host.match(/"resourceNames":\["db1"\]/g)?.length, 2);
  assert.ok(host.includes('"resourceNames":["member-db1"]'));
});
