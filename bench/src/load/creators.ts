/**
 * Clients that create as fast as a server answers: a program of its own, in Go. Node's own client takes as long for a request as the faster
 * of the measured servers does for its answer, and bytes written past it still cost twice of what they cost here.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFromGo } from '@reeve/rig';
import { configMapsIn, configMapText } from '../kubernetes/objects.ts';
import { LineProcess } from '../process/line-process.ts';
import type { Timed } from './orders.ts';
import type { Access } from './wire.ts';

const MODULE = fileURLToPath(new URL('../../creators/', import.meta.url));

export interface Creators extends AsyncDisposable {
  /** So many clients, each with one create after the other, for a time. */
  create(clients: number, ms: number): Promise<Timed>;
}

export async function startCreators({ url, caFile, certFile, keyFile }: Access): Promise<Creators> {
  const access = JSON.stringify({ url, caFile, certFile, keyFile });
  const child = new LineProcess('creators', { command: await program(), args: [access] });
  await child.next();
  // The program puts a name in place of the percent sign.
  const what = { path: configMapsIn('bench-creates'), body: configMapText('%') };
  return {
    create: (clients, ms) => child.ask<Timed>({ clients, ms, ...what }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function program(): Promise<string> {
  const sources = readdirSync(MODULE).filter((name) => name.endsWith('.go'));
  const folder = await builtFromGo({
    module: MODULE,
    name: 'creators',
    label: 'the clients that create',
    packages: ['.'],
    linkerFlags: '-s -w',
    files: ['go.mod', ...sources.sort()],
    withoutGo: 'Go, which builds the clients that create, is not on PATH: install it',
  });
  return join(folder, 'creators');
}
