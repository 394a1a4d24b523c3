/** Rights to write end at the own member: with the agents’ own credentials, on the real server and on ours, by one table. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LeaseClient, leaseNameOf, MemberLease, systemClock } from '@reeve/runtime';
import { type Actor, giveEverything, HOME, leases, members, openScene, type RightsScene } from './scene.ts';
import { type RightsServer, servers } from './servers.ts';
import { generousRows, rows, tryRow } from './table.ts';

/** Each request of it is noted. */
function leaseClient(scene: RightsScene, actor: Actor, asked: string[]): LeaseClient {
  const own = scene.as(actor).resource(leases, HOME);
  const noted = <T>(word: string, answer: Promise<T>): Promise<T> => {
    asked.push(word);
    return answer;
  };
  return {
    find: (name) => noted('get', own.find(name)),
    create: (lease) => noted('create', own.create(lease as never)),
    update: (lease) => noted('update', own.update(lease as never)),
    patch: (name, patch) => noted('patch', own.patch(name, patch)),
  };
}

for (const [name, open] of Object.entries(servers)) {
  describe(`on ${name}`, () => {
    let server: RightsServer;
    let scene: RightsScene;
    before(async () => {
      server = await open();
      scene = await openScene(server);
    });
    after(() => server?.[Symbol.asyncDispose]());

    for (const row of rows) {
      it(`${row.who} ${row.does}: ${row.verdict === 'allowed' ? 'allowed' : 'refused'}`, async () => {
        assert.equal(await tryRow(row, scene), undefined);
      });
    }

    it('a status write that brings orders along changes no order', async () => {
      const member = await scene.admin.resource(members, HOME).get('db-0');
      const changed = { ...member, spec: { ...member.spec, fence: 77 }, status: { highestLease: 1_000 } };
      const written = await scene
        .as('the agent of db-0')
        .resource(members, HOME)
        .update(changed, { subresource: 'status' });
      assert.deepEqual([written.spec.fence, written.status?.highestLease], [undefined, 1_000]);
    });

    it('an agent renews its lease by a patch alone, and not one that is somebody else’s by now', async () => {
      const { signal } = new AbortController();
      const actors = [
        ['the agent of db-0', 'db-0'],
        ['the agent of host h-1', 'h-1'],
      ] as const;
      for (const [actor, member] of actors) {
        const all = scene.admin.resource(leases, HOME);
        const give = async (holderIdentity: string) => {
          const lease = await all.get(leaseNameOf(member));
          const renewTime = '2026-01-01T00:00:00.000000Z';
          return all.update({ ...lease, spec: { ...lease.spec, holderIdentity, leaseDurationSeconds: 30, renewTime } });
        };
        await give('');
        const asked: string[] = [];
        const lease = new MemberLease({ clock: systemClock }, leaseClient(scene, actor, asked), {
          member,
          life: `of ${member}`,
        });
        assert.ok(await lease.renew(signal));
        assert.ok(await lease.renew(signal));
        assert.deepEqual(asked.splice(0), ['get', 'update', 'patch']);
        const { spec } = await give('somebody else');
        assert.equal(await lease.renew(signal), false);
        assert.deepEqual(asked, ['patch', 'get']);
        assert.deepEqual((await all.get(leaseNameOf(member))).spec, spec);
      }
    });

    describe('and when a role allows everything, the policy holds alone', () => {
      before(() => giveEverything(scene));
      for (const row of generousRows) {
        it(`${row.who} ${row.does}: ${row.verdict === 'allowed' ? 'allowed' : 'refused'}`, async () => {
          assert.equal(await tryRow(row, scene), undefined);
        });
      }
    });
  });
}
