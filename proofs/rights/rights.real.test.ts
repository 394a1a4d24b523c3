/** Rights to write end at the own member: with the agents’ own credentials, on the real server and on ours, by one table. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { giveEverything, HOME, members, openScene, type RightsScene } from './scene.ts';
import { type RightsServer, servers } from './servers.ts';
import { generousRows, rows, tryRow } from './table.ts';

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
