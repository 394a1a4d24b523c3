/**
 * Clusters that speak TLS only, written to by a user from a Secret: one with an authority of its own, which is upgraded, and one in the
 * newer version, whose certificates somebody else keeps.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOr } from '@reeve/cli/plane-testing';
import { presentedCertificate } from '@reeve/redis';
import { type Access, type Certificates, type Endpoint, makeCertificates, once, runOrThrow, until } from '@reeve/rig';
import { PATIENCE_MS, type Site } from '../site/site.ts';
import { backupStep } from './backup-steps.ts';
import { rebalance, scale } from './change-steps.ts';
import { mainSpec, playedOn, type Stage, type Step } from './stage.ts';
import type { Declaration } from './subject.ts';
import { upgradeStep, WITH_TLS } from './upgrade-steps.ts';

const USER = { username: 'app', password: 'of-the-app-and-of-nobody-else' };
const USER_SECRET = 'app-user';
const KEPT_SECRET = 'kept-certificate';
/** The name in the certificates that the rig makes. */
const KEPT_NAME = 'localhost';

function declaration(name: string, which: 'from' | 'to', tls: object): Declaration {
  const users = [
    {
      name: USER.username,
      rules: '~* &* +@all -flushall',
      passwordSecret: { name: USER_SECRET, key: 'password' },
    },
  ];
  const spec = { ...mainSpec, tls, auth: { users }, deletionPolicy: 'Delete' };
  return { name, user: USER, spec: (product) => ({ ...spec, version: WITH_TLS[product][which] }) };
}

const own = declaration('secure', 'from', { mode: 'selfSigned' });
const kept = declaration('kept', 'to', { mode: 'secret', secretName: KEPT_SECRET, serverName: KEPT_NAME });

/** By TLS and with the right password only, and only what its rules allow; and nothing of it is told to everybody. */
async function assertGuarded({ site, subject }: Stage): Promise<void> {
  const access = await subject.access();
  const { tls: _tls, ...inClear } = access;
  const [endpoint] = await site.endpoints(subject.name);
  const ask = (given: Access, ...words: readonly string[]) =>
    once(endpoint as Endpoint, { ...given, connectTimeoutMs: 3_000 }, ...words);
  assert.equal(await ask(access, 'ACL', 'WHOAMI'), USER.username);
  await assert.rejects(ask(inClear, 'PING'), 'in clear');
  await assert.rejects(ask({ ...access, password: 'another' }, 'PING'), 'with another password');
  await assert.rejects(ask(access, 'FLUSHALL'), /NOPERM/);
  const { password = '' } = await site.access(subject.name);
  const lines = site.machine.processes().map((pid) => readOr(`/proc/${pid}/cmdline`));
  for (const secret of [USER.password, password, 'PRIVATE KEY']) {
    assert.ok(secret !== '' && lines.every((line) => !line.includes(secret)), 'no secret is in an argument list');
  }
}

/** What its servers show, each once. */
async function shown(
  { site, subject }: Stage,
  tls: NonNullable<Access['tls']>,
): Promise<ReadonlySet<string | undefined>> {
  const endpoints = await site.endpoints(subject.name);
  return new Set(
    await Promise.all(endpoints.map((one) => presentedCertificate(one, { ...tls, servername: KEPT_NAME }))),
  );
}

function created(on: Declaration, prepare: (site: Site) => Promise<void> = async () => undefined): Step {
  return {
    name: `TLS, ${on.name}: created; nobody gets in in clear, with another password, or beyond the rules of a user`,
    on,
    isFirst: true,
    async run(stage) {
      await stage.site.keepSecret(USER_SECRET, { password: USER.password });
      await prepare(stage.site);
      await stage.declare();
      await stage.whole(3, 'it is created');
      await assertGuarded(stage);
    },
  };
}

/** @param renew writes another certificate of the same authority to where servers have theirs from. */
function renewed(on: Declaration, renew: (site: Site) => Promise<void>): Step {
  return {
    name: `TLS, ${on.name}: a new certificate reaches every server while clients write, and none is started anew`,
    on,
    async run(stage) {
      const { site, subject } = stage;
      const access = await subject.access();
      assert.ok(access.tls);
      const { tls } = access;
      const before = await site.runIds(on.name);
      const [old] = await shown(stage, tls);
      await renew(site);
      const areNew = async () => {
        const now = await shown(stage, tls);
        return now.size === 1 && !now.has(old) && !now.has(undefined);
      };
      await until('every server shows another one', areNew, { timeoutMs: PATIENCE_MS, everyMs: 250 });
      assert.deepEqual(await site.runIds(on.name), before, 'the same runs of the same servers');
      // Whoever has the certificates of before is let in, and lets itself be convinced.
      for (const endpoint of await site.endpoints(on.name)) assert.equal(await once(endpoint, access, 'PING'), 'PONG');
      await stage.whole();
    },
  };
}

/** As whoever keeps certificates writes them down. */
async function keep(site: Site, { ca, key }: Certificates, cert: string): Promise<void> {
  await site.keepSecret(KEPT_SECRET, { 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key });
}

/** One more of the same authority, for the same key. */
async function signAgain({ folder }: Certificates): Promise<string> {
  const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30', '-extfile', 'extensions'];
  await runOrThrow('openssl', ['x509', '-req', '-in', 'server.csr', ...by, '-out', 'renewed.crt'], { cwd: folder });
  return readFileSync(join(folder, 'renewed.crt'), 'utf8');
}

function keptSteps(): readonly Step[] {
  let made: Certificates | undefined;
  return [
    created(kept, async (site) => {
      made = await makeCertificates();
      await keep(site, made, made.cert);
    }),
    renewed(kept, async (site) => {
      assert.ok(made);
      await keep(site, made, await signAgain(made));
    }),
  ];
}

export const tlsSteps: readonly Step[] = [
  created(own),
  renewed(own, (site) => site.deleteSecret(`${own.name}-tls`)),
  ...playedOn(own, [scale, rebalance, backupStep], `TLS, ${own.name}: `),
  upgradeStep(own, WITH_TLS),
  ...keptSteps(),
];
