/** Where the program of an image comes from, and how it is told its address. The catalog of images is behind this port. */
import type { Owner } from '../host/host.ts';
import type { ImageCommand } from '../pod/environment.ts';
import type { DataPlace } from './data-place.ts';

export interface ResolvedImage extends ImageCommand {
  readonly env: Readonly<Record<string, string>>;
  /** Folders with programs, looked into before those of the machine. */
  readonly path: readonly string[];
  /** Where it lies whole, if it was fetched: perhaps in somebody's home, where others cannot go. */
  readonly folder?: string;
  /** Where its data lies if the pod mounts a volume there. */
  readonly data?: DataPlace;
  /**
   * Pods have addresses of 127.0.0.0/8, and a program must be told its own: by further arguments, by its environment, or not at all.
   * Arguments go behind those that the pod gives, and only if the image's own entrypoint runs.
   */
  tell(address: string): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
}

/** Why there is no program for it, for the person who wrote the name. */
export interface NoImage {
  readonly message: string;
  /** It is being fetched: ask again soon. */
  readonly isComing?: boolean;
}

export interface Images {
  resolve(image: string, signal: AbortSignal): Promise<ResolvedImage | NoImage>;
  /** As whom its own program runs where root runs the node and the pod names nobody. Default: as root. */
  userOf?(image: string): Owner | undefined;
}

export function isResolved(answer: ResolvedImage | NoImage): answer is ResolvedImage {
  return 'tell' in answer;
}

/** Only `host`: the programs of this machine. The pod must say which one by its command. */
export const hostImages: Images = {
  async resolve(image) {
    const [name] = image.split(/[:@]/);
    if (name !== 'host') {
      return { message: `image "${image}" is not known here; "host" stands for the programs of this machine` };
    }
    return { entrypoint: [], command: [], env: {}, path: [], tell: () => ({ args: [], env: {} }) };
  },
};
