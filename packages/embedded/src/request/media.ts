/** What a client accepts and what it sends. JSON is all that is served; tables, protobuf and YAML are not. */
import { notAcceptable, unsupportedMediaType } from '../status/refusal.ts';

const JSON_TYPE = 'application/json';

interface Clause {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

function clausesOf(header: string): readonly Clause[] {
  return header
    .split(',')
    .map((clause): Clause => {
      const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
      const pairs = parameters.map((part): [string, string] => {
        const equals = part.indexOf('=');
        return equals < 0 ? [part.toLowerCase(), ''] : [part.slice(0, equals).toLowerCase(), part.slice(equals + 1)];
      });
      const map = new Map(pairs);
      const quality = Number(map.get('q') ?? '1');
      return { type: type.toLowerCase(), quality: Number.isNaN(quality) ? 0 : quality, parameters: map };
    })
    .sort((a, b) => b.quality - a.quality);
}

export interface Accepted {
  /** Only the metadata of objects. */
  readonly metadataOnly: boolean;
}

/** The first form in the client's order that can be had. `isList`: a list has a kind of its own for metadata. */
export function negotiate(accept: string | undefined, isList: boolean): Accepted {
  if (accept === undefined || accept === JSON_TYPE || accept.trim() === '') return { metadataOnly: false };
  for (const { type, parameters } of clausesOf(accept)) {
    if (type !== JSON_TYPE && type !== 'application/*' && type !== '*/*') continue;
    const as = parameters.get('as');
    if (as === undefined || as === '') return { metadataOnly: false };
    const isMeta = parameters.get('g') === 'meta.k8s.io' && parameters.get('v') === 'v1';
    if (isMeta && as === `PartialObjectMetadata${isList ? 'List' : ''}`) return { metadataOnly: true };
  }
  throw notAcceptable([JSON_TYPE]);
}

/** For answers that have one form: discovery, versions. */
export function negotiatePlain(accept: string | undefined): void {
  if (accept === undefined || accept.trim() === '') return;
  const isServed = ({ type, parameters }: Clause): boolean =>
    (type === JSON_TYPE || type === 'application/*' || type === '*/*') && !parameters.get('as');
  if (!clausesOf(accept).some(isServed)) throw notAcceptable([JSON_TYPE]);
}

/** The media type of a body; JSON when none is said. */
export function contentType(header: string | undefined): string {
  const type = (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' ? JSON_TYPE : type;
}

export function requireJson(header: string | undefined): void {
  if (contentType(header) !== JSON_TYPE) throw unsupportedMediaType([JSON_TYPE]);
}
