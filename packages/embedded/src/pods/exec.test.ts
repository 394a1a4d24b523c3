import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransportRequest } from '@reeve/kube';
import { tokenAuthentication, type Authorize } from '../access/access.ts';
import type { Upgraded } from '../websocket/message-socket.ts';
import { chooseProtocol, message, readMessage } from './channels.ts';
import { exitStatus } from './exec.ts';
import { container, FakeSocket, openPods, running } from './pods-testing.ts';

const TOKEN = 'a-token-that-is-long-enough';
const WEBSOCKET = {
  authorization: `Bearer ${TOKEN}`,
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-protocol': 'v5.channel.k8s.io',
};

async function open(authorize?: Authorize) {
  const opened = await openPods({ authenticate: tokenAuthentication(TOKEN), ...(authorize && { authorize }) });
  await opened.create('web', [container('main')], { main: { state: running } });
  const connect = (query: string, headers: TransportRequest['headers'] = WEBSOCKET, pod = 'web') =>
    opened.server.connect({ method: 'GET', path: `/api/v1/namespaces/default/pods/${pod}/exec?${query}`, headers });
  const upgraded = async (query: string, headers?: TransportRequest['headers']): Promise<Upgraded> => {
    const answer = await connect(query, headers);
    assert.ok('run' in answer, 'body' in answer ? Buffer.from(answer.body as Uint8Array).toString() : '');
    return answer;
  };
  const refusal = async (query: string, headers?: TransportRequest['headers'], pod?: string) => {
    const answer = await connect(query, headers, pod);
    assert.ok(!('run' in answer));
    const status = JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as { readonly message: string };
    return [answer.status, status.message] as const;
  };
  return { ...opened, connect, upgraded, refusal };
}

const COMMAND = 'command=sh&command=-c&command=echo&stdin=1&stdout=1&stderr=1';

test('streams go over their channels, and how it ended over its own', async () => {
  const { fake, upgraded } = await open();
  const { protocol, run } = await upgraded(COMMAND);
  assert.equal(protocol, 'v5.channel.k8s.io');
  let input = '';
  fake.run = async ({ stdin, stdout, stderr }) => {
    for await (const chunk of stdin ?? []) input += Buffer.from(chunk).toString();
    await stdout?.(Buffer.from('out'));
    await stderr?.(Buffer.from('err'));
    return 3;
  };
  const resize = message(4, Buffer.from('{"Width":80}'));
  const socket = new FakeSocket(
    message(0, Buffer.from('some ')),
    resize,
    message(0, Buffer.from('input')),
    Buffer.from([255, 0]),
  );
  await run(socket);
  assert.equal(input, 'some input');
  assert.deepEqual(socket.sent[0], Buffer.from([1]), 'by an empty message the client knows that it is connected');
  assert.deepEqual([socket.on(1), socket.on(2)], ['out', 'err']);
  assert.deepEqual(JSON.parse(socket.on(3)), {
    metadata: {},
    status: 'Failure',
    message: 'command terminated with non-zero exit code: exit status 3',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: '3' }] },
  });
  assert.deepEqual(socket.closed, [1000]);
  assert.deepEqual(fake.asked[0]?.command, ['sh', '-c', 'echo']);
});

test('what was not asked for is not there; an end without a fault is said, too', async () => {
  const { fake, upgraded } = await open();
  const { protocol, run } = await upgraded('command=true&stderr=true', {
    ...WEBSOCKET,
    'sec-websocket-protocol': 'v4.channel.k8s.io',
  });
  assert.equal(protocol, 'v4.channel.k8s.io');
  fake.run = async ({ stdin, stdout, stderr }) => {
    assert.deepEqual([stdin, stdout, typeof stderr], [undefined, undefined, 'function']);
    return 0;
  };
  const socket = new FakeSocket();
  await run(socket);
  assert.deepEqual(socket.sent[0], Buffer.from([2]));
  assert.deepEqual(JSON.parse(socket.on(3)), { metadata: {}, status: 'Success' });
});

test('a command that cannot be started is told; one whose client goes, or whose server stops, is ended', async () => {
  const { fake, upgraded, server } = await open();
  const failing = await upgraded(COMMAND);
  fake.run = () => Promise.reject(new Error('it has just ended'));
  const told = new FakeSocket();
  await failing.run(told);
  const { message: said } = JSON.parse(told.on(3)) as { readonly message: string };
  assert.equal(said, 'Internal error occurred: error executing command in container: it has just ended');

  fake.run = (_streams, signal) =>
    new Promise((_resolve, reject) => {
      const end = () => reject(signal.reason as Error);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
  const left = new FakeSocket();
  const running1 = (await upgraded(COMMAND)).run(left);
  left.leave();
  await running1;
  assert.equal(left.on(3), '', 'nobody is there to be told');

  const last = new FakeSocket();
  const running2 = (await upgraded(COMMAND)).run(last);
  server.close();
  await running2;
  assert.deepEqual(last.closed, [1001]);
});

test('refusals come before the connection becomes anything else', async () => {
  const { refusal, create } = await open();
  await create('two', [container('a'), container('b')], { a: { state: { waiting: { reason: 'X' } } } });
  const cases: readonly (readonly [readonly [number, string], string, TransportRequest['headers']?, string?])[] = [
    [[401, 'Unauthorized'], COMMAND, { ...WEBSOCKET, authorization: 'Bearer wrong' }],
    [[404, 'pods "none" not found'], COMMAND, WEBSOCKET, 'none'],
    [[400, 'a container name must be specified for pod two, choose one of: [a b]'], COMMAND, WEBSOCKET, 'two'],
    [
      [500, 'Internal error occurred: unable to upgrade connection: container not found ("a")'],
      `${COMMAND}&container=a`,
      WEBSOCKET,
      'two',
    ],
    [[400, 'you must specify at least 1 of stdin, stdout, stderr'], 'command=ls'],
    [[400, 'you must specify at least one command for the container'], 'stdout=1'],
    [[400, 'Upgrade request required'], COMMAND, { ...WEBSOCKET, upgrade: 'SPDY/3.1' }],
    [
      [
        400,
        'requested protocol(s) are not supported: [base64.channel.k8s.io]; supports [v5.channel.k8s.io v4.channel.k8s.io]',
      ],
      COMMAND,
      { ...WEBSOCKET, 'sec-websocket-protocol': 'base64.channel.k8s.io' },
    ],
  ];
  for (const [expected, query, headers, pod] of cases) assert.deepEqual(await refusal(query, headers, pod), expected);
  assert.equal((await refusal(`${COMMAND}&tty=true`))[0], 501);
});

test('to open a WebSocket one must be allowed to get it and to create it', async () => {
  const asked: string[] = [];
  const { refusal } = await open(({ verb, resource, subresource }) => {
    asked.push(`${verb} ${resource}/${subresource}`);
    return { allowed: verb !== 'create' || subresource !== 'exec' };
  });
  asked.length = 0;
  assert.deepEqual(await refusal(COMMAND), [403, 'pods "web" is forbidden: ']);
  assert.deepEqual(asked, ['get pods/exec', 'create pods/exec']);
});

test('messages of clients', () => {
  assert.deepEqual(readMessage('v5.channel.k8s.io', Buffer.from([255, 0])), { type: 'end-of-input' });
  assert.deepEqual(readMessage('v5.channel.k8s.io', Buffer.from([255, 1])), { type: 'nothing' });
  assert.deepEqual(readMessage('v4.channel.k8s.io', Buffer.from([255, 0])), { type: 'nothing' });
  assert.deepEqual(readMessage('v4.channel.k8s.io', Buffer.from([0, 65])), { type: 'input', data: Buffer.from('A') });
  assert.deepEqual(readMessage('v4.channel.k8s.io', Buffer.from([])), { type: 'nothing' });
  assert.equal(chooseProtocol(['x', 'v4.channel.k8s.io', 'v5.channel.k8s.io']), 'v4.channel.k8s.io');
  assert.equal(chooseProtocol([]), undefined);
  assert.equal(exitStatus(0).status, 'Success');
});
