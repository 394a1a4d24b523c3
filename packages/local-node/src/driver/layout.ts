/**
 * How to let folders appear where the machine has none. A folder that exists is mounted over. For any other its deepest ancestor that
 * exists is opened: emptied by a tmpfs, and what was in it put back, so that there is room beside it.
 */
import { join } from 'node:path';
import type { HostFiles } from '../host/host.ts';
import type { Mount } from './driver.ts';

export type Step =
  | { readonly type: 'tmpfs' | 'folder' | 'file'; readonly path: string }
  | { readonly type: 'link'; readonly path: string; readonly to: string }
  | { readonly type: 'bind'; readonly source: string; readonly path: string; readonly isReadOnly: boolean };

export interface Layout {
  /** A place below `/` itself is missing: the root is put together from its parts. */
  readonly isRootOpened: boolean;
  readonly steps: readonly Step[];
}

interface Place {
  readonly mount: Mount;
  /** Without links, as far as it exists. */
  readonly path: string;
  /** The deepest ancestor that exists; undefined: the place itself does. */
  readonly opened: string | undefined;
}

export async function layoutOf(files: HostFiles, mounts: readonly Mount[]): Promise<Layout> {
  const places: Place[] = [];
  for (const mount of mounts) places.push(await placeOf(files, mount));
  const opened = [...new Set(places.flatMap((place) => (place.opened === undefined ? [] : [place.opened])))];
  const steps: Step[] = [];
  for (const folder of byDepth(opened, (path) => path)) {
    if (folder !== '/') steps.push({ type: 'tmpfs', path: folder });
    for (const { name, kind } of (await files.list(folder)) ?? []) {
      const path = join(folder, name);
      if (kind === 'link') steps.push({ type: 'link', path, to: (await files.linkTarget(path)) ?? '' });
      else {
        steps.push({ type: kind === 'folder' ? 'folder' : 'file', path });
        steps.push({ type: 'bind', source: path, path, isReadOnly: false });
      }
    }
  }
  const made = new Set<string>();
  for (const { mount, path } of byDepth(places, (place) => place.path)) {
    // Below a mount of the pod's own nothing may be made: it is what the volume holds that counts there.
    const isWithin = places.some((other) => other.path !== path && path.startsWith(`${other.path}/`));
    if (isWithin || !(await isThere(files, path, mount)) || made.has(path)) {
      steps.push({ type: mount.isFile ? 'file' : 'folder', path });
    }
    made.add(path);
    steps.push({ type: 'bind', source: mount.source, path, isReadOnly: mount.isReadOnly });
  }
  return { isRootOpened: opened.includes('/'), steps };
}

async function isThere(files: HostFiles, path: string, { isFile }: Mount): Promise<boolean> {
  const kind = await files.kindOf(path);
  return isFile ? kind !== undefined && kind !== 'folder' : kind === 'folder';
}

async function placeOf(files: HostFiles, mount: Mount): Promise<Place> {
  const parts = mount.target.split('/').filter((part) => part !== '' && part !== '.');
  for (let count = parts.length; count >= 0; count--) {
    const real = await files.realPath(`/${parts.slice(0, count).join('/')}`);
    if (real === undefined) continue;
    const rest = parts.slice(count);
    const path = join(real, ...rest);
    if (rest.length === 0) return { mount, path, opened: undefined };
    return { mount, path, opened: real };
  }
  return { mount, path: mount.target, opened: '/' };
}

function byDepth<T>(all: readonly T[], pathOf: (one: T) => string): readonly T[] {
  const depth = (one: T) => pathOf(one).split('/').filter(Boolean).length;
  return [...all].sort((a, b) => depth(a) - depth(b) || (pathOf(a) < pathOf(b) ? -1 : 1));
}
