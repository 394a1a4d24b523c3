/** --rollback and --resume: what can be taken back is, what cannot is refused with the true reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Harness, type Ran } from './harness.ts';

const JOURNAL = '/journals/one.json';

const ok = (ran: Ran): Ran => {
  assert.equal(ran.code, 0, `${ran.out}\n${ran.err}`);
  return ran;
};

function refused(ran: Ran, code: string, reason: RegExp): void {
  assert.equal(ran.code, 3, `${ran.out}\n${ran.err}`);
  assert.match(ran.out, new RegExp(`\\[${code}\\]`));
  assert.match(ran.out, reason);
}

function cluster(): Harness {
  const harness = new Harness();
  harness.formCluster(4);
  return harness;
}

async function slots(harness: Harness): Promise<readonly string[]> {
  const { shards } = ok(await harness.run('redis status 10.0.0.1:6379 --json')).json() as {
    shards: { slots: string; primary: { address: string } }[];
  };
  return shards.map((shard) => `${shard.primary.address} ${shard.slots}`).sort();
}

/** Runs a line and sends Ctrl-C when a command is about to be sent that matches for the second time. */
async function interrupted(harness: Harness, line: string, at: RegExp): Promise<void> {
  let send = () => {};
  let seen = 0;
  harness.beforeCall = (text) => {
    if (at.test(text) && ++seen === 2) send();
  };
  const ran = await harness.run(`${line} --journal ${JOURNAL}`, {
    interrupt: (sending) => {
      send = sending;
    },
  });
  harness.beforeCall = undefined;
  assert.equal(ran.code, 130, `${ran.out}\n${ran.err}`);
}

test('a deletion that was stopped while its slots moved is taken back', async () => {
  const harness = cluster();
  const before = await slots(harness);
  const line = 'redis del-node 10.0.0.1:6379 --node 10.0.0.4:6379 --engine windowed --yes';
  await interrupted(harness, line, /SETSLOT \d+ NODE/);
  assert.notDeepEqual(await slots(harness), before);
  const { out } = ok(await harness.run(`redis del-node --rollback ${JOURNAL} --yes`));
  assert.match(out, /move slots \S+ back from [0-9a-f]{8} \(10\.0\.0\.\d:6379\) to [0-9a-f]{8} \(10\.0\.0\.4:6379\)/);
  assert.deepEqual(await slots(harness), before);
  ok(await harness.run('redis check 10.0.0.1:6379'));
});

test('a deletion after which the node is forgotten is not taken back, and that is what is said', async () => {
  const harness = cluster();
  ok(await harness.run(`redis del-node 10.0.0.1:6379 --node 10.0.0.4:6379 --yes --journal ${JOURNAL}`));
  const before = harness.changes().length;
  const ran = await harness.run(`redis del-node --rollback ${JOURNAL} --yes`);
  refused(ran, 'ROLLBACK_IMPOSSIBLE', /3 of 3 nodes have forgotten [0-9a-f]{8}.* already/);
  assert.match(ran.out, /Nothing was changed\./);
  assert.equal(harness.changes().length, before);
});

test('an operation that moves no slots has no way back', async () => {
  const harness = cluster();
  const [fresh] = harness.addServers(1, 5);
  ok(await harness.run(`redis add-node 10.0.0.1:6379 --node ${fresh} --yes --journal ${JOURNAL}`));
  const ran = await harness.run(`redis add-node --rollback ${JOURNAL} --yes`);
  refused(ran, 'ROLLBACK_IMPOSSIBLE', /'add-node' moves no slots/);
});

const reshard = `redis reshard 10.0.0.1:6379 --to 10.0.0.4:6379 --slots 30 --yes --journal ${JOURNAL}`;

test('a rollback that went stale while somebody thought about it is refused', async () => {
  const harness = cluster();
  ok(await harness.run(reshard));
  const before = harness.changes().length;
  const ran = await harness.run(`redis reshard --rollback ${JOURNAL} --journal /journals/back.json`, {
    answers: ['yes'],
    // Somebody else brings the first third back.
    onAsk: () => {
      const { model } = harness;
      const id = String(model.execute('10.0.0.1:6379', ['CLUSTER', 'MYID']));
      for (let slot = 0; slot < 10; slot++)
        for (const address of ['10.0.0.1:6379', '10.0.0.4:6379'])
          model.execute(address, ['CLUSTER', 'SETSLOT', String(slot), 'NODE', id]);
      harness.pass(5000);
    },
  });
  refused(ran, 'PLAN_STALE', /the plan that was approved/);
  assert.equal(harness.changes().length, before);
  assert.equal(harness.files.texts.has('/journals/back.json'), false);
});

test('a rollback runs with the digest of its dry run, and with no other', async () => {
  const harness = cluster();
  const before = await slots(harness);
  ok(await harness.run(reshard));
  const line = `redis reshard --rollback ${JOURNAL}`;
  const { digest } = ok(await harness.run(`${line} --dry-run --json`)).json().plan as { digest: string };
  refused(await harness.run(`${line} --approve v1-0000000000000000`), 'PLAN_STALE', /Nothing was changed/);
  ok(await harness.run(`${line} --approve ${digest}`));
  assert.deepEqual(await slots(harness), before);
  assert.match(ok(await harness.run(`${line} --yes`)).out, /Nothing to do/);
});

test('servers of an unsupported version are refused by --resume and --rollback, too', async () => {
  const harness = new Harness({ flavour: 'redis7' });
  harness.formCluster(4);
  await interrupted(harness, reshard.replace(` --journal ${JOURNAL}`, ''), /SETSLOT \d+ NODE/);
  const before = harness.changes().length;
  harness.editReply = (_text, reply) =>
    typeof reply === 'string' ? reply.replace(/redis_version:\S+/, 'redis_version:6.2.14') : reply;
  for (const how of ['resume', 'rollback']) {
    const ran = await harness.run(`redis reshard --${how} ${JOURNAL}${how === 'resume' ? '' : ' --yes'}`);
    refused(ran, 'UNSUPPORTED_VERSION', /redis 6\.2\.14; supported are Redis 7 and Valkey 8 or newer/);
  }
  assert.deepEqual(harness.changes().slice(before), []);
  harness.editReply = undefined;
  ok(await harness.run(`redis reshard --resume ${JOURNAL}`));
});
