/**
 * External members that speak TLS only and let in nobody without a name. What they tell each other can be cut off: so damage lasts that
 * servers would settle by themselves, before anybody looks.
 */
import assert from 'node:assert/strict';
import { once } from '@reeve/rig';
import { failover, rebalance } from './change-steps.ts';
import { ACCESS_SECRET, ExternalSubject, OPERATOR, subjectOf, TLS_SECRET } from './external.ts';
import { claimed, collision } from './held-steps.ts';
import { replicaOfReplica } from './spare-steps.ts';
import { playedOn, type Step } from './stage.ts';
import type { Declaration } from './subject.ts';

const USER = { username: 'app', password: 'of-the-app-of-bare-servers' };

const guarded: Declaration = {
  name: 'guarded',
  user: USER,
  spec: () => ({
    members: 'external',
    access: {
      username: OPERATOR,
      passwordSecret: { name: ACCESS_SECRET, key: 'password' },
      tls: { secretName: TLS_SECRET },
    },
    primaries: 3,
    replicasPerPrimary: 1,
    migration: { pace: 'fast' },
  }),
  open: (site) =>
    new ExternalSubject(site, guarded, {
      guarded: true,
      users: [`user ${USER.username} on >${USER.password} ~* &* +@all -flushall`],
      cuttable: true,
    }),
};

const MEMBERS = ['g-1', 'g-2', 'g-3', 'g-4', 'g-5', 'g-6'];
const AS = 'external members with TLS and users: ';

const created: Step = {
  name: `${AS}six become a cluster; nobody gets in in clear, without a name, or beyond the rules of a user`,
  on: guarded,
  isFirst: true,
  async run(stage) {
    const subject = subjectOf(stage);
    await subject.keepAccess();
    await stage.declare();
    for (const name of MEMBERS) await subject.add(name);
    await stage.whole(3, 'it is created');
    const access = { ...(await subject.access()), connectTimeoutMs: 3_000 };
    const { username: _username, ...nameless } = access;
    const { tls: _tls, ...inClear } = access;
    for (const endpoint of await subject.endpoints()) {
      assert.equal(await once(endpoint, access, 'ACL', 'WHOAMI'), USER.username);
      await assert.rejects(once(endpoint, inClear, 'PING'), 'in clear');
      await assert.rejects(once(endpoint, nameless, 'PING'), /WRONGPASS|NOAUTH/);
      await assert.rejects(once(endpoint, access, 'FLUSHALL'), /NOPERM/);
    }
  },
};

export const guardedSteps: readonly Step[] = [
  created,
  ...playedOn(guarded, [rebalance, failover, claimed(15), collision, replicaOfReplica], AS),
];
