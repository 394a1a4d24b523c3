/** The query of `pods/log`, checked as the server checks it. Pure. */
import { flag, integer } from '../rest/list-options.ts';
import { type FieldError, forbidden, invalid } from '../status/field-error.ts';
import { invalidObject, Refusal } from '../status/refusal.ts';
import type { PodLogOptions } from './pod-access.ts';

export interface LogQuery extends PodLogOptions {
  /** Empty: not said. */
  readonly container: string;
  readonly limitBytes: number | undefined;
}

/** What needs the time at which a line was written: nobody writes that down here. */
const TIMED = ['timestamps', 'sinceSeconds', 'sinceTime'] as const;

export function readLogQuery(query: URLSearchParams, pod: string): LogQuery {
  const follow = flag(query, 'follow') ?? false;
  const previous = flag(query, 'previous') ?? false;
  const [tailLines, limitBytes] = [integer(query, 'tailLines'), integer(query, 'limitBytes')];
  const sinceSeconds = integer(query, 'sinceSeconds');
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  }
  if (sinceSeconds !== undefined && query.get('sinceTime')) {
    errors.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  if (query.get('stream')) errors.push(forbidden('stream', 'may not be specified'));
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, pod, errors);
  refuseTimes(query);
  return { container: query.get('container') ?? '', follow, previous, tailLines, limitBytes };
}

function refuseTimes(query: URLSearchParams): void {
  const asked = TIMED.filter((name) => (name === 'timestamps' ? flag(query, name) : query.get(name)));
  if (asked.length === 0) return;
  const message = `logs of pods are kept without times here: ${asked.join(', ')} cannot be served; tailLines and limitBytes can`;
  throw new Refusal(501, 'NotImplemented', message);
}
