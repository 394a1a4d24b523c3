import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Harness, type Ran } from './harness.ts';

const ok = (ran: Ran): Ran => {
  assert.equal(ran.code, 0, `${ran.out}\n${ran.err}`);
  return ran;
};

function cluster(primaries: number, replicas = 0): Harness {
  const harness = new Harness();
  harness.formCluster(primaries, replicas);
  return harness;
}

test('create makes a cluster that check finds clean, and status shows', async () => {
  const harness = new Harness();
  const addresses = harness.addServers(6).join(' ');
  ok(await harness.run(`redis create ${addresses} --replicas 1 --yes`));
  const check = ok(await harness.run('redis check 10.0.0.3:6379 --replicas 1 --keys'));
  assert.equal(check.out, 'clean: 6 of 6 nodes read\n');
  const status = ok(await harness.run('redis status 10.0.0.3:6379'));
  assert.match(status.out, /cluster_state ok, 16,384 of 16,384 slots, 3 primaries, 3 replicas, 0 keys/);
  assert.equal(status.out.match(/ up /g)?.length, 3);
  const json = ok(await harness.run('redis status 10.0.0.3:6379 --json')).json();
  assert.equal(json.slotsCovered, 16384);
  assert.equal((json.shards as unknown[]).length, 3);
});

test('a dry run prints the plan, its reasons and digest, and changes nothing', async () => {
  const harness = new Harness();
  const addresses = harness.addServers(6).join(' ');
  const { out } = ok(await harness.run(`redis create ${addresses} --replicas 1 --dry-run`));
  assert.match(out, /^Plan v1-[0-9a-f]{16}: create\nSteps:\n {2}1\. /);
  assert.match(out, /Why so:\n {2}- /);
  assert.match(out, /Nothing was changed\. To run exactly this: --approve v1-/);
  assert.deepEqual(harness.changes(), []);
  const { json } = ok(await harness.run(`redis create ${addresses} --replicas 1 --dry-run --json`));
  const plan = json().plan as { digest: string; steps: string[]; reasons: string[] };
  assert.ok(out.includes(plan.digest));
  assert.ok(plan.steps.length > 0 && plan.reasons.length > 0);
});

const reshard = 'redis reshard 10.0.0.1:6379 --to 10.0.0.2:6379 --slots 20';

test('--approve runs exactly the plan with that digest', async () => {
  const harness = cluster(3);
  const { digest } = ok(await harness.run(`${reshard} --dry-run --json`)).json().plan as { digest: string };
  const wrong = await harness.run(`${reshard} --approve v1-0000000000000000`);
  assert.equal(wrong.code, 3);
  assert.match(wrong.out, /\[PLAN_STALE\]\n.*\nNothing was changed\./);
  assert.deepEqual(harness.changes(), []);
  const json = ok(await harness.run(`${reshard} --approve ${digest} --json`)).json();
  assert.equal(json.status, 'reached');
  assert.equal(json.clean, true);
});

test('at a terminal the plan is shown and asked about; only yes runs it', async () => {
  const harness = cluster(3);
  const no = await harness.run(reshard, { answers: ['y'] });
  assert.equal(no.code, 3);
  assert.match(no.out, /Plan v1-[^]*Not approved: nothing was changed\./);
  assert.match(harness.asked.at(-1) ?? '', /Run this plan \(v1-[0-9a-f]+\)\? Type yes: /);
  assert.deepEqual(harness.changes(), []);
  ok(await harness.run(reshard, { answers: ['yes'] }));
});

test('without a terminal and without --yes nothing runs', async () => {
  const harness = new Harness();
  const { code, err } = await harness.run(`redis create ${harness.addServers(3).join(' ')}`);
  assert.equal(code, 3);
  assert.match(err, /nobody to ask: pass --yes, or --approve v1-.*\[NOT_APPROVED\]/);
  assert.deepEqual(harness.changes(), []);
});

test('a plan that went stale between approval and run is refused', async () => {
  const harness = cluster(4);
  const before = harness.changes().length;
  const { code, out } = await harness.run('redis reshard 10.0.0.1:6379 --to 10.0.0.4:6379 --slots 10', {
    answers: ['yes'],
    onAsk: () => moveSlotBehindOurBack(harness),
  });
  assert.equal(code, 3, out);
  assert.match(out, /refused: the plan that was approved .*\[PLAN_STALE\]/);
  assert.match(out, /Nothing was changed\./);
  assert.equal(harness.changes().length, before);
});

/** Somebody else moves the first slot of the first primary to the second. */
function moveSlotBehindOurBack(harness: Harness): void {
  const { model } = harness;
  const [first, second] = model.servers;
  assert.ok(first && second);
  const at = (server: typeof first) => `${server.host}:${server.port}`;
  const id = String(model.execute(at(second), ['CLUSTER', 'MYID']));
  for (const server of [second, first]) model.execute(at(server), ['CLUSTER', 'SETSLOT', '0', 'NODE', id]);
  harness.pass(5000);
}

test('a move lets others on its machine go first, unless it is to be fast', async () => {
  for (const [flags, gaveWay] of [
    ['', true],
    [' --fast', false],
  ] as const) {
    const harness = cluster(3);
    ok(await harness.run(`${reshard} --yes${flags}`));
    assert.equal(harness.gaveWay, gaveWay);
  }
});

test('reshard moves exactly that many slots with their keys, and rollback brings them back', async () => {
  const harness = cluster(4);
  const journal = '/journals/one.json';
  ok(await harness.run(`redis reshard 10.0.0.1:6379 --to 10.0.0.4:6379 --slots 100 --yes --journal ${journal}`));
  const slotsOf = async (address: string) => {
    const { shards } = ok(await harness.run('redis status 10.0.0.1:6379 --json')).json() as {
      shards: { slotCount: number; primary: { address: string } }[];
    };
    return shards.find(({ primary }) => primary.address === address)?.slotCount;
  };
  const after = await slotsOf('10.0.0.4:6379');
  const again = ok(await harness.run(`redis reshard --resume ${journal}`));
  assert.match(again.out, /reached its goal already/);
  ok(await harness.run(`redis reshard --rollback ${journal} --yes`));
  assert.equal(after, ((await slotsOf('10.0.0.4:6379')) as number) + 100);
  ok(await harness.run('redis check 10.0.0.1:6379'));
});

test('Ctrl-C stops at a safe place, keeps the journal and says how to go on; --resume finishes', async () => {
  const harness = cluster(4);
  let send = () => {};
  harness.beforeCall = (text) => {
    if (/MIGRATESLOTS|SETSLOT/.test(text)) send();
  };
  const journal = '/journals/the second.json';
  const stopped = await harness.run(
    [...'redis reshard 10.0.0.1:6379 --to 10.0.0.4:6379 --slots 300 --yes --journal'.split(' '), journal],
    {
      interrupt: (sending) => {
        let sent = false;
        send = () => {
          if (!sent) sending();
          sent = true;
        };
      },
    },
  );
  assert.equal(stopped.code, 130, stopped.out + stopped.err);
  assert.match(stopped.err, /stopping at a safe place \(Ctrl-C again: at once\)/);
  assert.match(stopped.out, /Go on with: reeve redis reshard --resume '\/journals\/the second\.json'/);
  harness.beforeCall = undefined;
  const resumed = ok(await harness.run(['redis', 'reshard', '--resume', journal]));
  assert.match(resumed.out, /reshard: done\.\nThe check is clean\./);
});

test('a second Ctrl-C ends the process at once; the same one passed on twice does not', async () => {
  const harness = cluster(4);
  let sending = () => {};
  const exits: boolean[] = [];
  harness.beforeCall = (text) => {
    if (exits.length > 0 || !/MIGRATESLOTS|SETSLOT/.test(text)) return;
    sending();
    sending();
    exits.push(harness.exited);
    harness.clock.pass(1000);
    sending();
    exits.push(harness.exited);
  };
  const line = 'redis reshard 10.0.0.1:6379 --to 10.0.0.4:6379 --slots 300 --yes --journal /j';
  const { code } = await harness.run(line, {
    interrupt: (send) => {
      sending = send;
    },
  });
  assert.equal(code, 130);
  assert.deepEqual(exits, [false, true]);
});

test('the journal goes to the state folder by default, and its name is printed', async () => {
  const harness = cluster(3);
  const { err } = ok(await harness.run(`${reshard} --yes`, { env: { XDG_STATE_HOME: '/state' } }));
  const path = /journal: (\S+)/.exec(err)?.[1] ?? '';
  assert.match(path, /^\/state\/reeve\/reshard-\d+\.journal\.json$/);
  assert.match(harness.files.texts.get(path) ?? '', /"kind":"reshard"/);
});

test('rebalance gives an added, empty primary its share, and then has nothing to do', async () => {
  const harness = cluster(3);
  const [address] = harness.addServers(1, 4);
  ok(await harness.run(`redis add-node 10.0.0.1:6379 --node ${address} --yes`));
  ok(await harness.run('redis rebalance 10.0.0.1:6379 --use-empty --yes'));
  const { shards } = ok(await harness.run('redis status 10.0.0.1:6379 --json')).json() as {
    shards: { slotCount: number }[];
  };
  assert.deepEqual(
    shards.map(({ slotCount }) => slotCount),
    [4096, 4096, 4096, 4096],
  );
  assert.match(ok(await harness.run('redis rebalance 10.0.0.1:6379 --yes')).out, /Nothing to do/);
});

test('del-node drains a primary and takes it out', async () => {
  const harness = cluster(4);
  ok(await harness.run('redis del-node 10.0.0.1:6379 --node 10.0.0.4:6379 --yes'));
  const { shards } = ok(await harness.run('redis status 10.0.0.1:6379 --json')).json() as { shards: unknown[] };
  assert.equal(shards.length, 3);
});

test('failover promotes a replica, and --spread is its own operation', async () => {
  const harness = cluster(3, 3);
  const before = ok(await harness.run('redis status 10.0.0.1:6379 --json')).json() as {
    shards: { primary: { id: string }; replicas: { id: string }[] }[];
  };
  const replica = before.shards[0]?.replicas[0]?.id ?? '';
  ok(await harness.run(`redis failover 10.0.0.1:6379 --node ${replica.slice(0, 12)} --yes`));
  const after = ok(await harness.run('redis status 10.0.0.1:6379 --json')).json() as typeof before;
  assert.ok(after.shards.some(({ primary }) => primary.id === replica));
  assert.equal((await harness.run('redis failover 10.0.0.1:6379 --yes')).code, 2);
  assert.match(ok(await harness.run('redis failover 10.0.0.1:6379 --spread --yes')).out, /Nothing to do/);
});

test('fix mends, has nothing to do afterwards, and fails while something is broken that it may not mend', async () => {
  const harness = cluster(3);
  harness.model.execute('10.0.0.1:6379', ['CLUSTER', 'DELSLOTS', '7']);
  assert.equal((await harness.run('redis check 10.0.0.1:6379')).code, 1);
  ok(await harness.run('redis fix 10.0.0.1:6379 --yes'));
  assert.match(ok(await harness.run('redis fix 10.0.0.1:6379 --yes')).out, /Nothing to do/);
  harness.model.kill(harness.model.servers[0] as (typeof harness.model.servers)[number]);
  harness.pass(60_000);
  const before = harness.changes().length;
  assert.notEqual((await harness.run('redis fix 10.0.0.2:6379 --yes')).code, 0);
  assert.equal(harness.changes().length, before);
});

test('host names are resolved, in addresses, nodes and annotations', async () => {
  const harness = cluster(3);
  ok(await harness.run('redis reshard h1.example:6379 --to h2.example:6379 --slots 5 --dry-run'));
  const status = ok(await harness.run('redis status h1.example:6379 --annotate h1.example:6379=zone=a'));
  assert.match(status.out, /MEMORY +ZONE +FLAGS\n/);
  assert.match(status.out, /10\.0\.0\.1:6379 .* a\n/);
});

test('watch prints what changed, a line each, and ends with Ctrl-C', async () => {
  const harness = cluster(3, 3);
  let looks = 0;
  let send = () => {};
  harness.beforeCall = (text) => {
    if (text !== 'CLUSTER NODES') return;
    looks++;
    if (looks === 10) harness.model.pause(harness.model.servers[0] as (typeof harness.model.servers)[number]);
    if (looks === 200) send();
  };
  const { code, out } = await harness.run('redis watch 10.0.0.2:6379', {
    interrupt: (sending) => {
      send = sending;
    },
  });
  assert.equal(code, 0);
  assert.match(out, /^\d{4}-\d\d-\d\dT[\d:.]+Z 10\.0\.0\.1:6379 \([0-9a-f]{8}\) state \S+ → /m);
});
