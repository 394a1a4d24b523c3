/** Input that must be refused with its reason, changing nothing: on the model. The same on real servers: bad-input.real.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Harness, type Ran } from './harness.ts';

/** Runs a line that must be refused: exit code 3, the code and the reason on stdout, no command sent that changes anything. */
async function refused(harness: Harness, line: string, code: string, reason: RegExp): Promise<Ran> {
  const before = harness.changes().length;
  const ran = await harness.run(line);
  assert.equal(ran.code, 3, `${ran.out}\n${ran.err}`);
  assert.match(ran.out, new RegExp(`refused: .*\\[${code}\\]`), ran.out);
  assert.match(ran.out, reason);
  assert.match(ran.out, /Nothing was changed\./);
  assert.deepEqual(harness.changes().slice(before), []);
  const json = (await harness.run(`${line} --json`)).json() as {
    ok: boolean;
    status: string;
    changed: string;
    refused: { code: string }[];
  };
  assert.equal(json.ok, false);
  assert.equal(json.status, 'refused');
  assert.equal(json.changed, 'nothing');
  assert.ok(json.refused.some((refusal) => refusal.code === code));
  return ran;
}

test('fewer than three primaries', async () => {
  const harness = new Harness();
  const addresses = harness.addServers(5);
  await refused(
    harness,
    `redis create ${addresses.slice(0, 2).join(' ')} --yes`,
    'TOO_FEW_PRIMARIES',
    /2 primaries|at least (?:three|3)/,
  );
  await refused(
    harness,
    `redis create ${addresses.join(' ')} --replicas 1 --yes`,
    'TOO_FEW_PRIMARIES',
    /2 primaries|at least (?:three|3)/,
  );
});

test('servers that are not empty', async () => {
  const harness = new Harness();
  const addresses = harness.addServers(3);
  harness.model.execute('10.0.0.2:6379', ['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
  harness.model.advance(5000);
  harness.model.execute('10.0.0.2:6379', ['SET', 'precious', '1']);
  harness.model.execute('10.0.0.2:6379', ['CLUSTER', 'DELSLOTSRANGE', '0', '16383']);
  await refused(harness, `redis create ${addresses.join(' ')} --yes`, 'NODE_NOT_EMPTY', /10\.0\.0\.2:6379/);
});

test('a wrong password', async () => {
  const harness = new Harness();
  const addresses = harness.addServers(3);
  harness.password = 'right';
  await harness.files.write('/secret', 'wrong\n');
  const ran = await harness.run(`redis status ${addresses[0]} --password-file /secret`);
  assert.equal(ran.code, 1);
  assert.match(ran.err, /did not let us in.*\[REDIS_AUTH\]/);
  const create = await harness.run(`redis create ${addresses.join(' ')} --yes --password-file /secret`);
  assert.equal(create.code, 3, create.out + create.err);
  assert.match(create.out, /did not let us in/);
  assert.deepEqual(harness.sent, []);
  await harness.files.write('/secret', 'right\r\n');
  assert.equal((await harness.run(`redis create ${addresses.join(' ')} --yes --password-file /secret`)).code, 0);
});

test('a server that wants a password asks for it at the terminal, without echo, and never prints it', async () => {
  const harness = new Harness();
  const addresses = harness.formCluster(3);
  harness.password = 'right';
  const ran = await harness.run(`redis check ${addresses[0]}`, { answers: ['right'] });
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(harness.asked, ['Password for 10.0.0.1:6379: ']);
  assert.doesNotMatch(ran.out + ran.err, /right/);
});

test('a node of another cluster', async () => {
  const harness = new Harness();
  const ours = harness.formCluster(3);
  const theirs = harness.formCluster(3, 0, 11);
  const [stranger = ''] = theirs;
  const fresh = harness.addServers(2, 21);
  await refused(
    harness,
    `redis create ${[...fresh, stranger].join(' ')} --yes`,
    'NODE_OF_OTHER_CLUSTER',
    /10\.0\.0\.11:6379/,
  );
  await refused(harness, `redis add-node ${ours[0]} --node ${stranger} --yes`, 'NODE_HAS_SLOTS', /10\.0\.0\.11:6379/);
});

test('two halves of a split cluster', async () => {
  const harness = new Harness();
  const ours = harness.formCluster(3);
  const theirs = harness.formCluster(3, 0, 11);
  const both = `${ours[0]} ${theirs[0]}`;
  await refused(
    harness,
    `redis reshard ${both} --to ${ours[1]} --slots 5 --yes`,
    'CLUSTER_NOT_CLEAN',
    /SPLIT_CLUSTER.*do not know the rest/,
  );
  await refused(harness, `redis rebalance ${both} --yes`, 'CLUSTER_NOT_CLEAN', /do not know the rest/);
  await refused(harness, `redis fix ${both} --yes`, 'SPLIT_CLUSTER', /do not know/);
  const check = await harness.run(`redis check ${both}`);
  assert.equal(check.code, 1);
  assert.match(check.out, /\[SPLIT_CLUSTER\]/);
});

test('an unsupported version, whatever is asked', async () => {
  const harness = new Harness({ flavour: 'redis7' });
  const members = harness.formCluster(3);
  const fresh = harness.addServers(3, 21);
  harness.editReply = (_text, reply) =>
    typeof reply === 'string' ? reply.replace(/redis_version:\S+/, 'redis_version:6.2.14') : reply;
  const lines = [
    `create ${fresh.join(' ')}`,
    `reshard ${members[0]} --to ${members[1]} --slots 5`,
    `fix ${members[0]}`,
    `del-node ${members[0]} --node ${members[2]}`,
  ];
  for (const line of lines)
    await refused(
      harness,
      `redis ${line} --yes`,
      'UNSUPPORTED_VERSION',
      /redis 6\.2\.14; supported are Redis 7 and Valkey 8 or newer/,
    );
});

test('names of nodes that do not exist or are not unique', async () => {
  const harness = new Harness();
  const addresses = harness.formCluster(3);
  const before = harness.changes().length;
  const ran = await harness.run(`redis reshard ${addresses[0]} --to 10.0.0.99:6379 --slots 5 --yes`);
  assert.equal(ran.code, 2);
  assert.match(ran.err, /0 nodes of the cluster are at 10\.0\.0\.99:6379 \[NODE_UNKNOWN\]/);
  assert.equal(harness.changes().length, before);
});
