/** Why servers must not be given an image, by what they run now. Pure. */
import type { Refusal } from '@reeve/runtime';
import type { PodMember } from './pods.ts';

export type Product = 'redis' | 'valkey';

/** By the last part of its name: those before it are somebody's place. */
const IMAGE = /(?:^|\/)(redis|valkey)(?=[:@]|$)(?::v?(\d+(?:\.\d+)*)\b)?[^/]*$/;

/** Undefined: its name says nothing. */
export function productOfImage(image: string): Product | undefined {
  return IMAGE.exec(image)?.[1] as Product | undefined;
}

interface Wanted {
  readonly image: string;
  /** Undefined: nobody says what is in the image. */
  readonly product: Product | undefined;
}

/** One cluster, one product: their replication streams and files part company. */
export function productProblem({ image, product }: Wanted, members: readonly PodMember[]): readonly Refusal[] {
  const other = members.find(
    ({ node }) => node && product !== undefined && node.report.value.server.product !== product,
  );
  if (!other?.node) return [];
  const running = other.node.report.value.server.product;
  const message = `${other.name} runs ${running}, and ${image} is another product: make a new cluster and restore a backup into it`;
  return [{ code: 'MIXED_PRODUCTS', message, subjects: [other.name] }];
}

/** A server does not read what a newer one wrote. */
export function versionProblem(image: string, members: readonly PodMember[]): readonly Refusal[] {
  const wanted = IMAGE.exec(image)?.[2];
  if (wanted === undefined) return [];
  const newer = members.find(({ node }) => node && isOlder(wanted, node.report.value.server.version));
  if (!newer?.node) return [];
  const message = `${newer.name} runs ${newer.node.report.value.server.version}, and ${image} is older: it may not read what that wrote`;
  return [{ code: 'UPGRADE_OLDER', message, subjects: [newer.name] }];
}

/** `9` and `9.1` are not older than `9.1.2`: a tag stands for the newest of its kind. */
function isOlder(tag: string, running: string): boolean {
  const there = running.split('.').map(Number);
  for (const [index, part] of tag.split('.').map(Number).entries()) {
    const own = there[index] ?? 0;
    if (part !== own) return part < own;
  }
  return false;
}
