/** `reeve exec` on a server that is a script. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError, type SocketRequest } from '@reeve/kube';
import { ApiHarness } from './api.ts';

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'main' }] } };

const said = (channel: number, text: string): Buffer => Buffer.concat([Buffer.of(channel), Buffer.from(text)]);
const failure = (details: object) => ({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...details });

/** A pod, and a socket that says this. */
function scripted(messages: readonly Buffer[]) {
  const asked: SocketRequest[] = [];
  const sent: string[] = [];
  const api = new ApiHarness(() =>
    Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(pod)) }),
  );
  api.socket = (request) => {
    asked.push(request);
    return Promise.resolve({
      protocol: 'v5.channel.k8s.io',
      send: async (message) => void sent.push(Buffer.from(message).toString('latin1')),
      messages: (async function* () {
        yield* messages;
      })(),
      [Symbol.dispose]: () => undefined,
    });
  };
  return { api, asked, sent };
}

test('outputs go where they belong, and the exit code is that of the command', async () => {
  const word = Buffer.from('ü');
  const ended = failure({ reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: '7' }] } });
  const { api, asked } = scripted([
    Buffer.concat([Buffer.of(1), word.subarray(0, 1)]),
    said(2, 'oh\n'),
    Buffer.concat([Buffer.of(1), word.subarray(1)]),
    said(3, JSON.stringify(ended)),
  ]);
  const ran = await api.run(['exec', 'p', '-n', 'ns', '--', 'sh', '-c', 'a b', '--help']);
  assert.deepEqual([ran.code, ran.out, ran.err], [7, 'ü', 'oh\n']);
  const query = 'command=sh&command=-c&command=a+b&command=--help&container=main&stdout=true&stderr=true';
  assert.equal(asked[0]?.path, `/api/v1/namespaces/ns/pods/p/exec?${query}`);
  assert.deepEqual(asked[0]?.protocols, ['v5.channel.k8s.io']);
});

test('a container that the pod does not have is refused with those that it has; so by logs', async () => {
  const { api, asked } = scripted([]);
  for (const line of ['exec p -c nope -- true', 'logs p -c nope']) {
    const { code, err } = await api.run(line);
    assert.equal(code, 2, err);
    assert.match(err, /pod p has no container nope; it has main \[CONTAINER_UNKNOWN\]\n +→ Give one of those/);
  }
  assert.deepEqual(asked, []);
});

test('Ctrl-C ends with 130, and talks of no journal and no safe place', async () => {
  const { api } = scripted([]);
  let stop = () => undefined as void;
  api.socket = ({ signal }) =>
    Promise.resolve({
      protocol: 'v5.channel.k8s.io',
      send: () => Promise.resolve(),
      messages: {
        [Symbol.asyncIterator]: () => ({
          async next() {
            const ended = new Promise((resolve) => signal?.addEventListener('abort', resolve));
            stop();
            await ended;
            return { done: true, value: undefined };
          },
        }),
      },
      [Symbol.dispose]: () => undefined,
    });
  const ran = await api.run('exec p -- sleep 1', { interrupt: (send) => (stop = send) });
  assert.deepEqual([ran.code, ran.out, ran.err], [130, '', 'reeve: stopped by Ctrl-C\n']);
});

test('what is piped to it goes to the command, which is told its end', async () => {
  const { api, sent, asked } = scripted([said(3, JSON.stringify({ ...failure({}), status: 'Success' }))]);
  const input = 'x'.repeat(40_000);
  assert.equal((await api.run('exec p -i -- cat', { input })).code, 0);
  assert.equal(
    sent
      .slice(0, -1)
      .map((message) => message.slice(1))
      .join(''),
    input,
  );
  assert.ok(sent.slice(0, -1).every((message) => message.startsWith('\u0000')));
  assert.equal(sent.at(-1), '\u00ff\u0000');
  assert.match(asked[0]?.path ?? '', /stdin=true/);
});

const success = said(3, JSON.stringify({ ...failure({}), status: 'Success' }));

test('bytes go through as they are, both ways', async () => {
  const bytes = Buffer.of(0xff, 0x00, 0x80);
  const { api, sent } = scripted([Buffer.concat([Buffer.of(1), bytes]), success]);
  const input = (async function* () {
    yield bytes;
  })();
  assert.deepEqual((await api.run('exec p -i -- cat', { input })).bytes, bytes);
  assert.equal(sent[0], '\u0000\u00ff\u0000\u0080');
  const logs = new ApiHarness(({ path }) => {
    const body = path.includes('/log?') ? bytes : Buffer.from(JSON.stringify(pod));
    return Promise.resolve({ status: 200, headers: {}, body });
  });
  assert.deepEqual((await logs.run('logs p')).bytes, bytes);
});

test('what the command says is shown while its input is still open, which nobody reads when it has ended', async () => {
  const { api, sent } = scripted([]);
  const heard = Promise.withResolvers<void>();
  api.socket = () =>
    Promise.resolve({
      protocol: 'v5.channel.k8s.io',
      send: async (message) => {
        sent.push(Buffer.from(message).toString('latin1'));
        heard.resolve();
      },
      messages: (async function* () {
        await heard.promise;
        yield said(1, 'yes?\n');
        yield success;
      })(),
      [Symbol.dispose]: () => undefined,
    });
  const input = (async function* () {
    yield Buffer.from('hello\n');
    await new Promise(() => undefined);
  })();
  const ran = await api.run('exec p -i -- head -n 1', { input });
  assert.deepEqual([ran.code, ran.out, ran.err, sent], [0, 'yes?\n', '', ['\u0000hello\n']]);
});

test('input that cannot be read ends it', async () => {
  const { api } = scripted([]);
  const never = (async function* () {
    yield await new Promise<Buffer>(() => undefined);
  })();
  api.socket = () =>
    Promise.resolve({
      protocol: 'v5.channel.k8s.io',
      send: () => Promise.resolve(),
      messages: never,
      [Symbol.dispose]: () => undefined,
    });
  const input = (async function* () {
    yield Buffer.from('a little');
    throw new Error('the pipe is broken');
  })();
  const ran = await api.run('exec p -i -- cat', { input });
  assert.equal(ran.code, 1);
  assert.match(ran.err, /the pipe is broken/);
});

test('what keeps a command from running is an error', async () => {
  const other = scripted([said(3, JSON.stringify(failure({ message: 'no such program' })))]);
  const ran = await other.api.run('exec p -- nothing');
  assert.equal(ran.code, 1);
  assert.match(ran.err, /exec: no such program \[KUBE_REFUSED\]/);
  assert.match((await scripted([said(1, 'half')]).api.run('exec p -- x')).err, /was not told \[KUBE_CONNECTION_LOST\]/);
  for (const line of ['exec', 'exec p', 'exec p --', 'exec svc/p -- ls']) {
    assert.equal((await scripted([]).api.run(line)).code, 2, line);
  }
});

test('why there is no socket is asked for', async () => {
  const refusal = { ...failure({ message: 'container main is not valid for pod p', code: 400 }), reason: 'BadRequest' };
  const api = new ApiHarness(({ path }) => {
    const [status, body] = path.includes('/exec?') ? [400, refusal] : [200, pod];
    return Promise.resolve({ status, headers: {}, body: Buffer.from(JSON.stringify(body)) });
  });
  api.socket = () => Promise.reject(new KubeError('KUBE_REFUSED', 'the server makes no socket'));
  assert.match((await api.run('exec p -- ls')).err, /container main is not valid for pod p \[KUBE_INVALID\]/);
});
