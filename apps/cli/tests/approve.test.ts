/** `reeve redis create NAME`: exactly the plan that was shown is approved. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { APPROVE, redisClusters } from '@reeve/redis';
import { installKinds } from '../src/operators/operators.ts';
import { ApiHarness } from './api.ts';

async function declared(t: TestContext, proposal: object | undefined, phase = 'Pending') {
  const api = await ApiHarness.open(t);
  await installKinds(api.client);
  const clusters = api.client.resource(redisClusters, 'default');
  await clusters.create({ metadata: { name: 'c' }, spec: { primaries: 3, creation: 'manual' } } as never);
  const propose = (plan: object | undefined, observedGeneration = 1) =>
    clusters.patch(
      'c',
      { type: 'merge', value: { status: { phase, observedGeneration, proposal: plan ?? null } } },
      { subresource: 'status' },
    );
  await propose(proposal);
  const approved = async () => (await clusters.get('c')).metadata.annotations?.[APPROVE];
  return { api, clusters, propose, approved };
}

const plan = { kind: 'create', digest: 'v1-one', steps: ['this', 'that'] };
const other = { kind: 'create', digest: 'v1-two', steps: ['something else'] };

test('the plan is shown, asked about, and approved by its digest', async (t) => {
  const { api, approved } = await declared(t, plan);
  const { code, out } = await api.run('redis create c', { answers: ['yes'] });
  assert.equal(code, 0);
  assert.match(out, /Plan v1-one: create\nSteps:\n {2}1\. this\n {2}2\. that\n/);
  assert.match(api.harness.asked.join(), /Approve this plan \(v1-one\)\?/);
  assert.equal(await approved(), 'v1-one');
});

test('nothing is approved without a yes', async (t) => {
  const { api, approved } = await declared(t, plan);
  assert.equal((await api.run('redis create c', { answers: ['no'] })).code, 3);
  const alone = await api.run('redis create c');
  assert.equal(alone.code, 3);
  assert.match(alone.err, /--approve v1-one.*\[NOT_APPROVED\]/);
  const dry = await api.run('redis create c --dry-run');
  assert.equal(dry.code, 0);
  assert.match(dry.out, /Nothing was changed/);
  assert.equal(await approved(), undefined);
  const json = await api.run('redis create c --yes --json');
  assert.deepEqual(json.json(), { command: 'redis create', plan, ok: true, status: 'approved' });
  assert.equal(await approved(), 'v1-one');
});

test('a plan that has changed since is not approved: not by its digest, not while somebody thinks, not between look and write', async (t) => {
  const { api, approved, propose } = await declared(t, plan);
  const wrong = await api.run('redis create c --approve v1-zero');
  assert.equal(wrong.code, 3);
  assert.match(wrong.err, /\[PLAN_STALE\]/);
  let thinking: Promise<unknown> | undefined;
  const slow = await api.run('redis create c', { answers: ['yes'], onAsk: () => void (thinking = propose(other)) });
  await thinking;
  assert.equal(slow.code, 3);
  assert.match(slow.err, /not the plan of now \(v1-two\).*\[PLAN_STALE\]/);
  // The operator writes at the very moment.
  let writes = 0;
  api.beforeRequest = async (method) => {
    if (method === 'PATCH' && writes++ === 0) await propose(plan);
  };
  const raced = await api.run('redis create c --yes');
  assert.equal(raced.code, 3, raced.out);
  assert.match(raced.err, /\[PLAN_STALE\]/);
  assert.equal(await approved(), undefined);
});

test('a write in between that does not change the plan is no reason to refuse', async (t) => {
  const { api, approved, propose } = await declared(t, plan);
  let writes = 0;
  api.beforeRequest = async (method) => {
    if (method === 'PATCH' && writes++ === 0) await propose({ ...plan, steps: ['told otherwise'] });
  };
  assert.equal((await api.run('redis create c --yes')).code, 0);
  assert.equal(await approved(), 'v1-one');
});

test('a spec that the operator has not seen, no plan, another plan, nobody of that name: refused, with what is', async (t) => {
  const { api, approved, propose, clusters } = await declared(t, { ...plan, kind: 'fix' }, 'Broken');
  const another = await api.run('redis create c --yes');
  assert.equal(another.code, 3);
  assert.match(another.err, /no create: reeve redis fix c.*\[NO_PROPOSAL\]/);
  await propose(undefined);
  assert.match((await api.run('redis fix c --yes')).err, /no plan .* it is Broken.*\[NO_PROPOSAL\]/);
  assert.match((await api.run('redis create d --yes')).err, /no RedisCluster d .*HOST:PORT.*\[NO_PROPOSAL\]/);
  await propose({ ...plan, kind: 'fix' });
  await clusters.patch('c', { type: 'merge', value: { spec: { primaries: 4 } } });
  assert.match((await api.run('redis fix c --yes')).err, /has not looked at it since.*\[PLAN_STALE\]/);
  assert.equal(await approved(), undefined);
  await propose({ ...plan, kind: 'fix' }, 2);
  assert.equal((await api.run('redis fix c --yes')).code, 0);
  assert.equal(await approved(), 'v1-one');
  assert.equal((await api.run('redis create c --resume /j')).code, 2);
});
