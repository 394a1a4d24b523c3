/** The commands as a user types them, and kubectl, on a control plane that really runs: over TLS. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { kubeProgram, REEVE, run, temporaryFolder, until } from '@reeve/rig';

const PATIENCE = { timeoutMs: 60_000 };

interface Answer {
  readonly status: number;
  readonly text: string;
}

class Scene {
  readonly home = temporaryFolder('reeve-cli');
  readonly data = join(this.home, 'reeve', 'local');
  readonly kubeconfig = join(this.data, 'kubeconfig');
  #plane: ChildProcess | undefined;

  static async open(t: TestContext): Promise<Scene> {
    const scene = new Scene();
    t.after(() => scene.end());
    await scene.up();
    return scene;
  }

  get env(): Readonly<Record<string, string>> {
    return { XDG_STATE_HOME: this.home, KUBECONFIG: '', NO_COLOR: '1' };
  }

  async up(): Promise<() => string> {
    const plane = spawn(process.execPath, [REEVE, 'up', '--nodes', '2'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...this.env },
    });
    this.#plane = plane;
    let said = '';
    for (const stream of [plane.stdout, plane.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
    await until(
      'the control plane says how to go on',
      () => {
        assert.equal(plane.exitCode, null, said);
        return said.includes('Ctrl-C');
      },
      PATIENCE,
    );
    return () => said;
  }

  /** Its exit code. */
  async stopped(signal?: NodeJS.Signals): Promise<number | null> {
    const plane = this.#plane;
    if (!plane) return null;
    const ended = plane.exitCode === null && plane.signalCode === null ? once(plane, 'exit') : undefined;
    if (signal) plane.kill(signal);
    await ended;
    this.#plane = undefined;
    return plane.exitCode;
  }

  reeve(args: readonly string[], input = '') {
    return run(process.execPath, [REEVE, ...args], { env: this.env, timeoutMs: 120_000, input });
  }

  /** With its input open. */
  begin(args: readonly string[]) {
    const env = { ...process.env, ...this.env };
    return spawn(process.execPath, [REEVE, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env });
  }

  async ok(args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.reeve(args, input);
    assert.equal(code, 0, `reeve ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  async kubectl(args: readonly string[], input = ''): Promise<string> {
    const { command } = await kubeProgram('kubectl');
    const env = { KUBECONFIG: this.kubeconfig, KUBECACHEDIR: join(this.home, 'kubectl') };
    const { code, stdout, stderr } = await run(command, args, { env, timeoutMs: 60_000, input });
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** A request as anybody could send it. */
  ask(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const config = JSON.parse(readFileSync(this.kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    };
    const { server, 'certificate-authority-data': data } = config.clusters[0].cluster;
    return new Promise((resolve, reject) => {
      const ca = Buffer.from(data, 'base64');
      // Not the name of the Host header, which Node would take.
      const asked = request(`${server}${path}`, { ca, headers, agent: false, servername: 'localhost' });
      asked.on('error', reject);
      asked.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      asked.end();
    });
  }

  token(): string {
    const config = JSON.parse(readFileSync(this.kubeconfig, 'utf8')) as { users: [{ user: { token: string } }] };
    return config.users[0].user.token;
  }

  /** Processes that belong to pods of this folder. */
  processes(): readonly number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && readOr(`/proc/${pid}/environ`).includes(`=${this.data}`));
  }

  async end(): Promise<void> {
    await this.stopped('SIGKILL');
    await until(
      'no process is left',
      () => {
        for (const pid of this.processes()) tryToKill(pid);
        return this.processes().length === 0;
      },
      PATIENCE,
    );
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has just ended
  }
}

function tryToKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has just ended
  }
}

const web = `
apiVersion: v1
kind: ConfigMap
metadata: { name: words }
data: { word: hello }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: web }
spec:
  replicas: 2
  serviceName: web
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - name: main
        image: host
        command: [sh, -c, 'trap "exit 0" TERM; echo started $HOSTNAME; while :; do sleep 0.05; done']
`;

test('reeve and kubectl work on one control plane over TLS; strangers do not; down ends everything', async (t) => {
  const scene = await Scene.open(t);
  for (const file of ['kubeconfig', 'authority.pem', 'server.pem', 'tokens', 'service-accounts.key']) {
    assert.equal(statSync(join(scene.data, file)).mode & 0o777, 0o600, file);
  }

  await t.test('kubectl logs in with the kubeconfig', async () => {
    const nodes = await scene.kubectl(['get', 'nodes', '-o', 'name']);
    assert.deepEqual(nodes.trim().split('\n').sort(), ['node/node-1', 'node/node-2']);
    const map = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'k' }, data: { a: '1' } });
    await scene.kubectl(['apply', '--server-side', '--validate=false', '-f', '-'], map);
    assert.equal(await scene.kubectl(['get', 'configmap', 'k', '-o', 'jsonpath={.data.a}']), '1');
    const ca = await scene.kubectl(['get', 'cm', 'kube-root-ca.crt', '-n', 'kube-public', '-o', 'json']);
    const { data } = JSON.parse(ca) as { data: Record<string, string> };
    assert.match(data['ca.crt'] ?? '', /^-----BEGIN CERTIFICATE-----/);
  });

  await t.test('nobody else is let in', async () => {
    const host = { authorization: `Bearer ${scene.token()}` };
    assert.equal((await scene.ask('/api/v1/nodes', host)).status, 200);
    assert.equal((await scene.ask('/api/v1/nodes', {})).status, 401);
    assert.equal((await scene.ask('/api/v1/nodes', { authorization: 'Bearer wrong' })).status, 401);
    assert.equal((await scene.ask('/api/v1/nodes', { ...host, origin: 'https://example.com' })).status, 403);
    assert.equal((await scene.ask('/api/v1/nodes', { ...host, host: 'example.com' })).status, 403);
    assert.equal((await scene.ask('/reeve/backup', {})).status, 401);
    const { hostname, port } = new URL(
      (JSON.parse(readFileSync(scene.kubeconfig, 'utf8')) as { clusters: [{ cluster: { server: string } }] })
        .clusters[0].cluster.server,
    );
    assert.equal(hostname, '127.0.0.1');
    const stranger = request(`https://127.0.0.1:${port}/livez`, { agent: false });
    const [error] = (await once(stranger.end(), 'error')) as [NodeJS.ErrnoException];
    assert.match(error.code ?? '', /UNABLE_TO|SELF_SIGNED/, 'whoever does not know the authority does not trust it');
  });

  await t.test('apply, get, events, delete', async () => {
    assert.equal(await scene.ok(['apply', '-f', '-'], web), 'configmap/words created\nstatefulset.apps/web created\n');
    await until(
      'both pods are ready',
      async () => (await scene.ok(['get', 'statefulset', 'web'])).includes('2/2'),
      PATIENCE,
    );
    assert.match(
      await scene.ok(['get', 'pods']),
      /^NAME +READY +STATUS.*\nweb-0 +1\/1 +Running.*\nweb-1 +1\/1 +Running/,
    );
    assert.match(await scene.ok(['events', 'pod/web-0']), /Started +pod\/web-0 +Started container main/);
    const conflict = await scene.reeve(['apply', '-f', '-'], web.replace('word: hello', 'word: other'));
    assert.equal(conflict.code, 0, conflict.stderr);
    await scene.kubectl(
      ['apply', '--server-side', '--force-conflicts', '--validate=false', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'words' }, data: { word: 'theirs' } }),
    );
    const refused = await scene.reeve(['apply', '-f', '-'], web);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /\.data\.word: of "kubectl".*\[APPLY_CONFLICT\]/s);
    assert.match(await scene.ok(['delete', 'cm', 'words', '--wait']), /configmap\/words deleted/);
    const file = join(scene.home, 'pod.yaml');
    writeFileSync(file, 'apiVersion: v1\nkind: Pod\nmetadata: { name: web-0 }\n');
    assert.match(await scene.ok(['delete', '-f', file]), /pod\/web-0/);
    await until('it is back', async () => (await scene.ok(['get', 'sts', 'web'])).includes('2/2'), PATIENCE);
  });

  await t.test('logs, and commands with their outputs, exit codes and input', async () => {
    assert.equal(await scene.ok(['logs', 'web-0']), 'started web-0\n');
    assert.equal(await scene.ok(['logs', 'pod/web-1', '--tail', '1', '-c', 'main']), 'started web-1\n');
    const ended = await scene.reeve(['exec', 'web-0', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
    assert.deepEqual([ended.code, ended.stdout, ended.stderr], [7, 'out\n', 'err\n']);
    assert.equal(await scene.ok(['exec', 'web-0', '-i', '--', 'cat'], 'piped\n'), 'piped\n');
    const raw = scene.begin(['exec', 'web-0', '-i', '--', 'cat']);
    raw.stdin.end(Buffer.of(0xff, 0x00, 0x80));
    assert.deepEqual(await buffer(raw.stdout), Buffer.of(0xff, 0x00, 0x80));
    const none = await scene.reeve(['exec', 'web-0', '-c', 'none', '--', 'ls']);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /pod web-0 has no container none; it has main .*CONTAINER_UNKNOWN/);
  });

  await t.test('exec -i answers while its input is open, ends with its command, and by Ctrl-C', async () => {
    for (const [command, end, code] of [
      ['cat', 'SIGINT', 130],
      ['head -n 1', undefined, 0],
    ] as const) {
      const typed = scene.begin(['exec', 'web-0', '-i', '--', ...command.split(' ')]);
      const ended = once(typed, 'close');
      typed.stdin.write('one\n');
      const [shown] = (await once(typed.stdout, 'data')) as [Buffer];
      assert.equal(shown.toString(), 'one\n');
      if (end) typed.kill(end);
      assert.deepEqual(await ended, [code, null], command);
    }
  });

  await t.test('a pod calls the API by what its service account gives it', async () => {
    const account = '$REEVE_SERVICE_ACCOUNT';
    const call = `fetch('https://' + process.env.KUBERNETES_SERVICE_HOST + ':' + process.env.KUBERNETES_SERVICE_PORT + '/version', { headers: { authorization: 'Bearer ' + require('fs').readFileSync(process.argv[1] + '/token', 'utf8') } }).then((r) => console.log(r.status))`;
    const line = `NODE_EXTRA_CA_CERTS=${account}/ca.crt ${process.execPath} -e "${call.replaceAll('"', '\\"')}" ${account}`;
    assert.equal(await scene.ok(['exec', 'web-0', '--', 'sh', '-c', line]), '200\n');
  });

  await t.test('a backup is made while it runs, and comes back after everything has ended', async () => {
    const file = join(scene.home, 'backup.db');
    assert.match(await scene.ok(['backup', file]), /objects, revision \d+/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(
      readdirSync(scene.home).filter((name) => name.startsWith('backup')),
      ['backup.db'],
    );
    const again = await scene.reeve(['backup', file]);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /FILE_EXISTS/);
    const inUse = await scene.reeve(['restore', file]);
    assert.equal(inUse.code, 3);
    assert.match(inUse.stderr, /`reeve up`, process \d+, has \S+ in use.*PLANE_RUNNING/);
    await scene.ok(['delete', 'sts', 'web', '--wait']);
    await until('its pods are gone', async () => (await scene.reeve(['get', 'pods'])).stdout === '', PATIENCE);
    assert.equal(await scene.stopped('SIGTERM'), 0);
    const broken = join(scene.home, 'broken.db');
    writeFileSync(broken, 'no backup');
    assert.match((await scene.reeve(['restore', broken])).stderr, /BACKUP_UNREADABLE/);
    // Still a database, with three other letters in one of its objects.
    const bytes = readFileSync(file);
    bytes.write('WEB', bytes.indexOf('"name":"web-0"') + '"name":"'.length);
    writeFileSync(broken, bytes);
    const damaged = await scene.reeve(['restore', broken]);
    assert.equal(damaged.code, 2);
    assert.match(damaged.stderr, /checksum does not fit \[BACKUP_UNREADABLE\]/);
    assert.ok(!readdirSync(scene.data).some((name) => /before-|restoring|new/.test(name)), 'nothing was touched');
    // One of before, which says nothing of itself.
    const old = new DatabaseSync(file);
    old.exec('DROP TABLE backup');
    old.close();
    const restored = await scene.reeve(['restore', file]);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /objects, revision \d+\nWhat was there before is /);
    assert.match(restored.stderr, /has no checksum/);
    assert.ok(readdirSync(scene.data).some((name) => name.startsWith('store.db.before-')));
    await scene.up();
    await until('the set is back', async () => (await scene.ok(['get', 'sts', 'web'])).includes('2/2'), PATIENCE);
    assert.equal(await scene.kubectl(['get', 'cm', 'k', '-o', 'jsonpath={.data.a}']), '1');
  });

  await t.test('the doctor knows what is there', async () => {
    const { code, stdout } = await scene.reeve(['doctor', '--output', 'json']);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { check: string; detail: string }[] };
    assert.equal(code, ok ? 0 : 1);
    assert.match(findings.find(({ check }) => check === 'data folder')?.detail ?? '', /a control plane runs on it/);
    assert.match(findings.find(({ check }) => check === 'drivers')?.detail ?? '', /plain/);
  });

  await t.test('down asks the control plane that runs, and ends all pods', async () => {
    assert.ok(scene.processes().length > 0);
    const said = await scene.ok(['down']);
    assert.match(said, /Asked the control plane.*\n.*stopped, and all its pods have ended/);
    assert.equal(await scene.stopped(), 0);
    assert.deepEqual(scene.processes(), []);
    assert.match(await scene.ok(['down']), /No control plane was running; no pods either/);
    const unreachable = await scene.reeve(['get', 'pods']);
    assert.equal(unreachable.code, 1);
    assert.match(unreachable.stderr, /`reeve up` is not running.*\[KUBE_UNREACHABLE\]/);
  });

  await t.test('down ends pods also when the control plane was killed; the next one begins them anew', async () => {
    await scene.up();
    await until('they run again', async () => (await scene.ok(['get', 'sts', 'web'])).includes('2/2'), PATIENCE);
    await scene.stopped('SIGKILL');
    assert.ok(scene.processes().length > 0);
    assert.match(await scene.ok(['down']), /No control plane was running; 2 pods ended/);
    assert.deepEqual(scene.processes(), []);
  });
});

test('a kill at any moment of the first start leaves nothing that stops the next one', async (t) => {
  const scene = new Scene();
  t.after(() => scene.end());
  for (const delayMs of [150, 250, 350, 450, 550]) {
    const plane = spawn(process.execPath, [REEVE, 'up', '--nodes', '1'], {
      stdio: 'ignore',
      env: { ...process.env, ...scene.env },
    });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const ended = once(plane, 'exit');
    plane.kill('SIGKILL');
    await ended;
  }
  await scene.up();
  assert.ok(existsSync(join(scene.data, 'authority.pem')));
  assert.match(await scene.ok(['get', 'nodes']), /node-1 +Ready/);
});

test('a folder with a restore that was interrupted is not used until it is done', async (t) => {
  const scene = await Scene.open(t);
  const file = join(scene.home, 'backup.db');
  await scene.ok(['backup', file]);
  await scene.stopped('SIGTERM');
  writeFileSync(join(scene.data, 'restoring'), `${file}\n`);
  const refused = await scene.reeve(['up', '--nodes', '1']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /RESTORE_UNFINISHED/);
  // A store that is damaged, with a log that must not become part of the next one: what backups are for.
  writeFileSync(join(scene.data, 'store.db'), 'damaged '.repeat(1_000));
  writeFileSync(join(scene.data, 'store.db-wal'), 'rest');
  await scene.ok(['restore', file]);
  assert.ok(!existsSync(join(scene.data, 'store.db-wal')));
  assert.ok(!existsSync(join(scene.data, 'restoring')));
  await scene.up();
  assert.match(await scene.ok(['get', 'nodes']), /node-2 +Ready/);
});

test('the shell completes what the script says', async () => {
  const complete = async (...words: readonly string[]) => {
    const script = `source <(${process.execPath} ${REEVE} completion bash)
COMP_WORDS=(reeve ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _reeve; echo "\${COMPREPLY[*]}"`;
    return (await run('bash', ['-c', script])).stdout.trim().split(' ');
  };
  assert.deepEqual(await complete('do'), ['down', 'doctor']);
  assert.ok((await complete('redis', 'c')).includes('create'));
  assert.deepEqual(await complete('get', '-o', 'ya'), ['yaml']);
  assert.deepEqual(await complete('get', 'pods', '--all'), ['--all-namespaces']);
  assert.deepEqual(await complete('completion', 'z'), ['zsh']);
});
