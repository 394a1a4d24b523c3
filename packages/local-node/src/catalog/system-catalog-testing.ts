/** The catalog on this machine, with the tools that its user has. */
import { homedir } from 'node:os';
import type { TestContext } from 'node:test';
import { systemPorts } from '@reeve/runtime';
import { systemHost } from '../host/system-host.ts';
import { Catalog, type CatalogOptions } from './catalog.ts';
import type { Entry } from './entry.ts';

export function catalogOf(t: TestContext, folder: string, entries: readonly Entry[], path = process.env.PATH): Catalog {
  const options: CatalogOptions = {
    entries,
    folder,
    environment: { ...process.env, HOME: homedir() },
    arch: process.arch,
  };
  const catalog = new Catalog({ ...systemPorts, host: systemHost(path) }, options);
  t.after(() => catalog[Symbol.asyncDispose]());
  return catalog;
}
