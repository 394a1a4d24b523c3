/** Servers in Java, fetched once into the user's own cache: they are large. Each keeps what it was given over a kill -9. */
import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { test, type TestContext } from 'node:test';
import { eventually, NodeScene } from '../node/node-testing.ts';
import { imageCacheFolder } from './cache.ts';
import { cassandra } from './cassandra.ts';
import { elassandra } from './elassandra.ts';
import type { Entry } from './entry.ts';
import { catalogOf } from './system-catalog-testing.ts';

/** For 100 MB from a registry, and for a first start. */
const PATIENCE_MS = 300_000;
const { signal } = new AbortController();

const STARTUP = 1;
const QUERY = 7;
const ERROR = 0;

function frame(opcode: number, body: Buffer): Buffer {
  const header = Buffer.from([4, 0, 0, 0, opcode, 0, 0, 0, 0]);
  header.writeUInt32BE(body.length, 5);
  return Buffer.concat([header, body]);
}

function queryFrame(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return frame(QUERY, Buffer.concat([length, Buffer.from(text), Buffer.from([0, 1, 0])])); // consistency ONE, no flags
}

const startup = Buffer.concat([Buffer.from([0, 1, 0, 11]), Buffer.from('CQL_VERSION\u0000\u00053.0.0')]);

/** As clients do: a server that has just opened its port may close what it does not serve yet. */
function cql(host: string, statements: readonly string[]): Promise<string> {
  const asked = async () => {
    try {
      return await askedOnce(host, statements);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      return undefined;
    }
  };
  return eventually(asked, `${statements.at(-1)} is answered`, PATIENCE_MS);
}

/** Statements one after the other, by CQL's native protocol; what the last one answered, as bytes that were not taken apart. */
async function askedOnce(host: string, statements: readonly string[]): Promise<string> {
  const socket = connect({ host, port: 9042 });
  try {
    const pieces = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
    let rest = Buffer.alloc(0);
    const more = async (bytes: number) => {
      while (rest.length < bytes) {
        const piece = await pieces.next();
        assert.ok(piece.done !== true, 'the server closed the connection');
        rest = Buffer.concat([rest, piece.value]);
      }
    };
    let answer = '';
    for (const request of [frame(STARTUP, startup), ...statements.map(queryFrame)]) {
      socket.write(request);
      await more(9);
      const end = 9 + rest.readUInt32BE(5);
      await more(end);
      answer = rest.toString('latin1', 9, end);
      assert.notEqual(rest[4], ERROR, answer);
      rest = rest.subarray(end);
    }
    return answer;
  } finally {
    socket.destroy();
  }
}

interface Started {
  readonly address: string;
  /** Kills the server and waits until the next one serves. */
  killed(): Promise<void>;
  log(): Promise<string>;
}

async function started(t: TestContext, entry: Entry, port: number): Promise<Started> {
  const scene = await NodeScene.open(t);
  await chmod(scene.folder, 0o711);
  const images = catalogOf(t, imageCacheFolder(process.env, homedir()), [entry]);
  const { node } = await scene.start({ images });
  await scene.create(
    'db',
    {
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          image: entry.name,
          env: [{ name: 'CASSANDRA_DATA', value: '/srv/data' }],
          volumeMounts: [{ name: 'data', mountPath: '/srv/data' }],
          readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
        },
      ],
    },
    { annotations: { 'reeve.dev/relocatable': 'true' } },
  );
  const { status } = await scene.ready('db', PATIENCE_MS);
  return {
    address: status?.podIP ?? '',
    async killed() {
      // The Java machine itself, not who waits for its exit code; and of this container, for there may be others that it can see.
      const isOwn = 'grep -qzxF "REEVE_COOKIE=$REEVE_COOKIE" "$p/environ" 2>/dev/null';
      const look = `case "$(readlink "$p/exe")" in */java|*/ld-linux-*) ${isOwn} && kill -9 "\${p#/proc/}";; esac`;
      const script = `for p in /proc/[0-9]*; do ${look}; done; :`;
      await node.exec({ namespace: 'default', pod: 'db' }, ['sh', '-c', script], { signal });
      const isBack = ({ status: now }: Awaited<ReturnType<NodeScene['ready']>>) =>
        now?.containerStatuses?.[0]?.restartCount === 1 && now.containerStatuses[0].ready;
      await scene.until('db', isBack, 'it is back', PATIENCE_MS);
    },
    log: () => scene.logOf(node, 'db'),
  };
}

test('cassandra: answers CQL on its own address, and has its rows after a kill', async (t) => {
  const { address, killed, log } = await started(t, cassandra, 9042);
  const made = [
    `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
    'CREATE TABLE shop.orders (id int PRIMARY KEY, word text)',
    `INSERT INTO shop.orders (id, word) VALUES (7, 'kept-by-cassandra')`,
  ];
  await cql(address, made);
  assert.match(await cql(address, ['SELECT release_version FROM system.local']), /5\.0\.9/);
  await killed();
  assert.match(await cql(address, ['SELECT word FROM shop.orders WHERE id = 7']), /kept-by-cassandra/);
  assert.match(await log(), new RegExp(`Starting listening for CQL clients on /${address}:9042`));
});

interface Found {
  readonly hits?: { readonly total?: number };
}

test('elassandra: what is written by the API of Elasticsearch is found by search, and by CQL after a kill', async (t) => {
  const { address, killed } = await started(t, elassandra, 9200);
  const base = `http://${address}:9200`;
  const put = (path: string, body: unknown) =>
    eventually(
      async () => (await fetch(`${base}/${path}`, { method: 'PUT', body: JSON.stringify(body), signal })).ok,
      `${path} is taken`,
      PATIENCE_MS,
    );
  await put('shop', {});
  await put('shop/orders/7', { word: 'kept-by-elassandra' });
  const hits = async () => {
    const answer = await fetch(`${base}/shop/_search?q=word:elassandra`, { signal });
    return answer.ok ? ((await answer.json()) as Found).hits?.total : undefined;
  };
  await eventually(async () => (await hits()) === 1, 'it is found');
  await killed(); // what its index had not written is gone, and is for its owner to build anew; the row is not
  assert.match(await cql(address, ['SELECT word FROM shop.orders']), /kept-by-elassandra/);
});
