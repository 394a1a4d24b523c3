import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverNameOf } from './children.ts';
import { certificateNames, serverLife, tlsDue } from './tls.ts';

const DAY = 86_400_000;
const names = ['c.ns.svc'];
const life = (fingerprint: string, from: number, until: number) => ({
  fingerprint,
  from: from * DAY,
  until: until * DAY,
  names,
});
const trusting = (server: ReturnType<typeof life>, ...trusts: readonly string[]) => ({ ...server, trusts });
const due = (held: Parameters<typeof tlsDue>[0], day: number) => tlsDue(held, names, day * DAY);
const nothing = { newAuthority: false, newServer: false, signer: 'newest' } as const;

test('all is made when there is nothing, and nothing while it is good', () => {
  assert.deepEqual(due({}, 1), { newAuthority: true, newServer: true, signer: 'newest' });
  const held = { authority: life('A', 0, 3_650), server: trusting(life('S', 0, 90), 'A') };
  assert.deepEqual(due(held, 1), nothing);
  assert.deepEqual(due(held, 59), nothing);
});

test('a certificate is renewed when a third of its life is left, or it lacks a name', () => {
  const authority = life('A', 0, 3_650);
  assert.deepEqual(due({ authority, server: trusting(life('S', 0, 90), 'A') }, 61), { ...nothing, newServer: true });
  const other = { ...trusting(life('S', 0, 90), 'A'), names: ['d.ns.svc'] };
  assert.deepEqual(due({ authority, server: other }, 1), { ...nothing, newServer: true });
  assert.deepEqual(due({ authority }, 1), { ...nothing, newServer: true });
});

test('a new authority signs only when servers were told to trust it', () => {
  const old = life('A', 0, 3_650);
  const server = trusting(life('S', 2_900, 2_990), 'A');
  assert.deepEqual(due({ authority: old, server }, 2_921), { newAuthority: true, newServer: true, signer: 'previous' });
  // Died after the authority was written: servers do not know it.
  const next = life('B', 2_921, 6_571);
  assert.deepEqual(due({ authority: next, previous: old, server }, 2_922), {
    ...nothing,
    newServer: true,
    signer: 'previous',
  });
  // They do, and at their next turn it signs.
  const told = trusting(life('T', 2_922, 3_012), 'B', 'A');
  assert.deepEqual(due({ authority: next, previous: old, server: told }, 2_923), nothing);
  assert.deepEqual(due({ authority: next, previous: old, server: told }, 2_990), { ...nothing, newServer: true });
});

test('an authority that was lost or has ended is replaced at once', () => {
  const server = trusting(life('S', 0, 90), 'A');
  assert.deepEqual(due({ server }, 5), { newAuthority: true, newServer: true, signer: 'newest' });
  assert.deepEqual(due({ authority: life('A', 0, 50), server }, 60), {
    newAuthority: true,
    newServer: true,
    signer: 'newest',
  });
});

test('no certificate outlives its signer, and all carry the name that is checked', () => {
  assert.equal(serverLife(10 * DAY, { until: 40 * DAY }).until, 40 * DAY);
  assert.equal(serverLife(10 * DAY, { until: 400 * DAY }).until, 100 * DAY);
  assert.equal(serverNameOf('c', 'ns', undefined), 'c.ns.svc');
  const own = { mode: 'selfSigned', serverName: 'cache.example.com' } as const;
  assert.ok(certificateNames('c', 'ns', own).includes('cache.example.com'));
  assert.ok(certificateNames('c', 'ns', own).includes('*.c-nodes.ns.svc'));
});
