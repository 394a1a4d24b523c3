import { fileURLToPath } from 'node:url';
import { LineProcess } from '../process/line-process.ts';
import type { LoadOrder, LoadResult } from './orders.ts';
import type { Access } from './wire.ts';

export interface Load extends AsyncDisposable {
  ask(order: LoadOrder): Promise<LoadResult>;
}

/** Filling a server with a hundred thousand objects takes minutes. */
const PATIENCE_MS = 30 * 60_000;

/** A load generator on a server. */
export async function startLoad({ url, caFile, certFile, keyFile, etcdUrl }: Access): Promise<Load> {
  const script = fileURLToPath(new URL('./load.ts', import.meta.url));
  const access: Access = { url, caFile, certFile, keyFile, ...(etcdUrl !== undefined && { etcdUrl }) };
  const child = new LineProcess('load', { command: process.execPath, args: [script, JSON.stringify(access)] });
  await child.next();
  return {
    ask: (order) => child.ask<LoadResult>(order, PATIENCE_MS),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
