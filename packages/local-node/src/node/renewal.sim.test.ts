/** Tokens are asked for anew while somebody needs them, and never in haste. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransportRequest } from '@reeve/kube';
import { MemoryScene } from './memory-node-testing.ts';

const LIFE_S = 600;
/** More than the whole life of a token: whoever forgot to ask is late. */
const LATE_MS = LIFE_S * 1_000;
const QUIET_MS = 60_000;
/** A token that nobody gives: every ten seconds. */
const MOST_TRIES = 7;

const spec = {
  restartPolicy: 'Never',
  serviceAccountName: 'robot',
  volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: LIFE_S } }] } }],
} as const;

/** Gives tokens as long as the account is there. */
async function sceneWithTokens(): Promise<{ scene: MemoryScene; tokens: { asked: number; isGone: boolean } }> {
  const scene = await MemoryScene.open();
  const tokens = { asked: 0, isGone: false };
  const json = (status: number, value: object) => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  });
  scene.answer = ({ method, path }: TransportRequest) => {
    if (method !== 'POST' || !path.includes('/serviceaccounts/')) return undefined;
    tokens.asked++;
    if (tokens.isGone) {
      return json(404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 });
    }
    const expirationTimestamp = new Date(scene.clock.now() + LIFE_S * 1_000).toISOString();
    return json(201, { status: { token: `t-${tokens.asked}`, expirationTimestamp } });
  };
  return { scene, tokens };
}

test('a pod that has ended asks for no token, and for no turn', async () => {
  const { scene, tokens } = await sceneWithTokens();
  await scene.start();
  await scene.create('a', { ...spec, containers: [{ name: 'main', command: ['exit', '0'] }] });
  await scene.until(() => scene.find('a')?.status?.phase === 'Succeeded', 'it has ended');
  await scene.clock.advance(LATE_MS);
  const [hasty, asked] = [scene.hasty, tokens.asked];
  await scene.clock.advance(QUIET_MS);
  assert.deepEqual([scene.hasty - hasty, tokens.asked - asked], [0, 0]);
});

test('a pod whose account is gone goes on, and asks now and then', async () => {
  const { scene, tokens } = await sceneWithTokens();
  await scene.start();
  await scene.create('a', spec);
  await scene.until(() => scene.isReady('a'), 'it runs');
  await scene.clock.advance(LATE_MS);
  assert.equal(tokens.asked, 2, 'once at its beginning, once before the token ended');
  tokens.isGone = true;
  await scene.clock.advance(LATE_MS);
  const [hasty, asked] = [scene.hasty, tokens.asked];
  await scene.clock.advance(QUIET_MS);
  assert.equal(scene.hasty - hasty, 0);
  assert.ok(tokens.asked - asked > 0 && tokens.asked - asked <= MOST_TRIES, `${tokens.asked - asked} times`);
  assert.ok(scene.isReady('a'));
  tokens.isGone = false;
  await scene.clock.advance(QUIET_MS);
  const again = tokens.asked;
  await scene.clock.advance(QUIET_MS);
  assert.equal(tokens.asked, again, 'it has one again');
});
