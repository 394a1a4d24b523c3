/** Names of images, as far as a catalog of programs can read them: `valkey`, `valkey:9`, `valkey:9.1.2`. Pure. */
export interface Reference {
  readonly name: string;
  /** The numbers with which its version must begin; undefined: any. */
  readonly wanted: string | undefined;
}

/** What cannot be read, said to the person who wrote it. */
export interface Unreadable {
  readonly problem: string;
}

const NUMBERS = /^\d+(?:\.\d+)*$/;

export function parseReference(image: string): Reference | Unreadable {
  if (image.includes('@')) {
    return { problem: `image "${image}" names a digest, which only images of a registry have: name a version` };
  }
  const colon = image.lastIndexOf(':');
  const name = colon < 0 ? image : image.slice(0, colon);
  const tag = colon < 0 ? 'latest' : image.slice(colon + 1);
  if (tag === 'latest') return { name, wanted: undefined };
  if (!NUMBERS.test(tag))
    return { problem: `the version of image "${image}" is none: numbers like 9.1, or none at all` };
  return { name, wanted: tag };
}

/** `9.1` is any 9.1; `9.1.2` is that one. */
export function fits(version: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const [have, want] = [version.split('.'), wanted.split('.')];
  return want.every((number, at) => Number(number) === Number(have[at] ?? Number.NaN));
}

/** Numbers first, as people count them: 9.10 is newer than 9.9. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [a.split('.').map(Number), b.split('.').map(Number)];
  for (let at = 0; at < Math.max(first.length, second.length); at++) {
    const difference = (first[at] ?? 0) - (second[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
