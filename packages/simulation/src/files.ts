import type { Files } from '@reeve/runtime';
import type { EffectOptions } from './world.ts';

/** What is on a disk: it survives the crash of the process that wrote it. */
export type Disk = Map<string, string>;

type Effect = <T>(label: string, options: EffectOptions<T>) => Promise<T>;

/**
 * The Files port on a simulated disk. Each call is an effect: a crash before it leaves the disk as it was, a crash
 * after it has written, and an append that was cut short can leave a part of its text (a torn last line).
 * A whole write replaces the file by rename: it is there or not, never torn.
 */
export function simulatedFiles(disk: Disk, effect: Effect): Files {
  return {
    read: (path) => effect('files.read', { detail: path, apply: () => disk.get(path) }),
    write: (path, text) =>
      effect('files.write', {
        detail: path,
        apply: () => {
          disk.set(path, text);
        },
      }),
    append(path, text) {
      const add = (part: string) => {
        disk.set(path, (disk.get(path) ?? '') + part);
      };
      return effect('files.append', {
        detail: `${path} ${text.trimEnd()}`,
        apply: () => add(text),
        torn: (part) => add(text.slice(0, Math.ceil(text.length * part) - 1)),
      });
    },
    remove: (path) =>
      effect('files.remove', {
        detail: path,
        apply: () => {
          disk.delete(path);
        },
      }),
  };
}
