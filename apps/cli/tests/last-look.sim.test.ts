/** The look at the end of an operation: at the cluster as it is then, judged by what was asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Harness, type Ran } from './harness.ts';

const ok = (ran: Ran): Ran => {
  assert.equal(ran.code, 0, `${ran.out}\n${ran.err}`);
  return ran;
};

for (const flag of ['', ' --no-reset']) {
  test(`del-node of the very address that was given ends with a look at the others${flag}`, async () => {
    const harness = new Harness();
    const [, , , last = ''] = harness.formCluster(4);
    const { out } = ok(await harness.run(`redis del-node ${last} --node ${last} --yes${flag}`));
    assert.match(out, /del-node: done\.\nThe check is clean\.\n$/);
  });
}

test('the placement is judged by the keys given, as check does it', async () => {
  const harness = new Harness();
  const [first = '', second = '', third = '', ...replicas] = harness.formCluster(3, 3);
  // Each replica in the rack of its primary, though the racks would allow to keep them apart.
  const racks = [first, second, third].flatMap((primary, index) => [
    `--annotate ${primary}=rack=${index}`,
    `--annotate ${replicas[index] ?? ''}=rack=${index}`,
  ]);
  const placement = `--spread-by rack ${racks.join(' ')}`;
  const reshard = `redis reshard ${first} --to ${second} --slots 5 --yes`;
  assert.match(ok(await harness.run(reshard)).out, /The check is clean\./);
  const { out } = ok(await harness.run(`${reshard} ${placement}`));
  assert.match(out, /share rack 0.*\[PLACEMENT\]/);
  assert.equal(ok(await harness.run(`${reshard} ${placement} --json`)).json().clean, false);
  assert.match((await harness.run(`redis check ${first} ${placement}`)).out, /share rack 0.*\[PLACEMENT\]/);
});

test('del-node keeps replicas apart from their new primaries by the keys given', async () => {
  const harness = new Harness();
  const addresses = harness.formCluster(4, 1);
  const [leaving = '', ...others] = addresses;
  // The only replica follows the first; its rack is that of all primaries but the third.
  const racks = addresses.map((address) => `--annotate ${address}=rack=${address === others[1] ? 'b' : 'a'}`);
  const { out } = ok(
    await harness.run(`redis del-node ${others[0]} --node ${leaving} --dry-run --spread-by rack ${racks.join(' ')}`),
  );
  assert.match(out, /\(10\.0\.0\.5:6379\) becomes a replica of [0-9a-f]{8} \(10\.0\.0\.3:6379\)/);
});
