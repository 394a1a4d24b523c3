/** The port to real servers, on node-redis: one plain client for each server and lane, made with the first call. */
import { RESP_TYPES, RedisClient } from '@redis/client';
import type { Clock } from '@reeve/runtime';
import { type Arg, type CallOptions, readsBy, type RedisPort, type Reply } from '../api/port.ts';
import { type Endpoint, formatEndpoint } from '../api/view.ts';
import { Connection, type WireClient } from './connection.ts';
import { closedError, redactor } from './errors.ts';
import { transaction } from './transaction.ts';

export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that the server's certificate must carry, when it is not the address. */
  readonly servername?: string;
  /** Danger: any certificate is accepted. */
  readonly insecure?: boolean;
}

export interface ConnectOptions {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsOptions;
  /** Default 5000. */
  readonly connectTimeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 5000;
const BINARY_MAPPING = { [RESP_TYPES.BLOB_STRING]: Buffer };

function socketOptions(endpoint: Endpoint, options: ConnectOptions) {
  const base = {
    host: endpoint.host,
    port: endpoint.port,
    connectTimeout: options.connectTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    reconnectStrategy: false as const,
  };
  if (!options.tls) return base;
  const { ca, cert, key, servername, insecure } = options.tls;
  return {
    ...base,
    tls: true as const,
    rejectUnauthorized: insecure !== true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}

export function connectRedis(options: ConnectOptions, ports: { readonly clock: Clock }): RedisPort {
  const redact = redactor(options.password);
  const connections = new Map<string, Connection>();
  const all = new Set<Connection>();
  let closed = false;

  function open(endpoint: Endpoint, lane: string): Connection {
    const clientOptions = {
      RESP: 2 as const,
      ...(options.username === undefined ? {} : { username: options.username }),
      ...(options.password === undefined ? {} : { password: options.password }),
      disableOfflineQueue: true,
      // No CLIENT SETINFO: an ACL user of ours need not be allowed it.
      disableClientInfo: true,
      maintNotifications: 'disabled' as const,
      // Deadlines are ours: node-redis would make a timer for each command.
      commandOptions: { timeout: 0 },
      socket: socketOptions(endpoint, options),
    };
    // The bare class: createClient would first make one with some 400 methods that are never called (80 ms, half of it garbage).
    const connection: Connection = new Connection(new RedisClient(clientOptions) as unknown as WireClient, {
      endpointText: formatEndpoint(endpoint),
      usesTls: options.tls !== undefined,
      redact,
      clock: ports.clock,
      binaryMapping: BINARY_MAPPING,
      onRetired: () => {
        if (connections.get(lane) === connection) connections.delete(lane);
      },
      onOver: () => all.delete(connection),
    });
    connections.set(lane, connection);
    all.add(connection);
    return connection;
  }

  function connectionFor(endpoint: Endpoint, lane: NonNullable<CallOptions['lane']>): Connection {
    const key = `${lane} ${endpoint.host} ${endpoint.port}`;
    return connections.get(key) ?? open(endpoint, key);
  }

  function call(endpoint: Endpoint, args: readonly Arg[], how: CallOptions = {}): Promise<Reply> {
    if (closed) return Promise.reject(closedError(formatEndpoint(endpoint)));
    const connection = connectionFor(endpoint, how.lane ?? 'control');
    return connection.call(args, how.timeoutMs ?? DEFAULT_TIMEOUT_MS, how.binary ?? false);
  }

  return {
    call,
    reads: readsBy(call),
    transaction(endpoint, commands, call = {}) {
      if (closed) return Promise.reject(closedError(formatEndpoint(endpoint)));
      return transaction(
        connectionFor(endpoint, call.lane ?? 'control'),
        commands,
        call.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        call.binary ?? false,
        { endpointText: formatEndpoint(endpoint), redact },
      );
    },
    migrateAuth() {
      if (options.password === undefined) return [];
      return options.username === undefined
        ? ['AUTH', options.password]
        : ['AUTH2', options.username, options.password];
    },
    async close() {
      closed = true;
      for (const connection of all) connection.close();
    },
  };
}
