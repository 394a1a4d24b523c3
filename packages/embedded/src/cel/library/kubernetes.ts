/** Values that Kubernetes adds to the language: addresses of the web and of machines, quantities, versions, formats. */
import {
  type Address,
  formatAddress,
  formatNetwork,
  holds,
  holdsNetwork,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  isV4InV6,
  masked,
  type Network,
  parseAddress,
  parseNetwork,
} from '../../format/address.ts';
import { goQuote } from '../../format/go-text.ts';
import {
  approximate,
  compareQuantities,
  integerOf,
  ofInteger,
  parseQuantity,
  type Quantity,
} from '../../format/quantity.ts';
import { compareSemver, parseSemver, parseTolerantly, type Semver } from '../../format/semver.ts';
import { hostnameOf, type ParsedUrl, parseUrl, portOf, queryOf } from '../../format/url.ts';
import { fn, method, type Overload } from '../function.ts';
import { EvaluationError } from '../meter.ts';
import { BOOL, type CelType, DOUBLE, INT, listOf, mapOf, objectOf, opaqueOf, STRING } from '../type.ts';
import { ArrayList, EntryMap, Opaque, type Value } from '../value.ts';

/** A value of a library around a plain one. */
class Wrapped<T> extends Opaque {
  override readonly typeName: string;
  readonly inner: T;
  readonly #equals: (one: T, other: T) => boolean;

  constructor(type: CelType, inner: T, equals: (one: T, other: T) => boolean, size = 1) {
    super(size);
    this.typeName = type.name;
    this.inner = inner;
    this.#equals = equals;
  }

  override equals(other: Opaque): boolean {
    return this.#equals(this.inner, (other as Wrapped<T>).inner);
  }
}

const URL_TYPE = objectOf('kubernetes.URL');
const QUANTITY = objectOf('kubernetes.Quantity');
const SEMVER = objectOf('kubernetes.Semver');
const IP = opaqueOf('net.IP');
const CIDR = opaqueOf('net.CIDR');

const wrapUrl = (url: ParsedUrl): Value => new Wrapped(URL_TYPE, url, (one, other) => one.text === other.text);
const wrapQuantity = (one: Quantity): Value =>
  new Wrapped(QUANTITY, one, (left, right) => compareQuantities(left, right) === 0);
const wrapSemver = (one: Semver): Value => new Wrapped(SEMVER, one, (left, right) => compareSemver(left, right) === 0);
const wrapAddress = (one: Address): Value =>
  new Wrapped(IP, one, (left, right) => left.bits === right.bits && left.value === right.value, one.bits / 8);
const wrapNetwork = (one: Network): Value =>
  new Wrapped(CIDR, one, (left, right) => formatNetwork(left) === formatNetwork(right), Math.ceil(one.length / 8));

/** What was parsed, or an error with what is wrong. */
function parsed<T>(result: T | string, prefix = ''): T {
  if (typeof result === 'string') throw new EvaluationError(prefix + result);
  return result;
}

function address(text: string): Address | string {
  if (text.includes('%') && typeof parseAddress(text.replace(/%.*$/s, '')) !== 'string') {
    return `IP address ${goQuote(text)} with zone value is not allowed`;
  }
  const result = parseAddress(text);
  if (typeof result === 'string')
    return `IP Address ${goQuote(text)} parse error during conversion from string: ${result}`;
  return isV4InV6(result) ? `IPv4-mapped IPv6 address ${goQuote(text)} is not allowed` : result;
}

const NETWORK_ERROR = 'network address parse error during conversion from string: ';

function network(text: string): Network | string {
  const result = parseNetwork(text);
  if (typeof result === 'string') return NETWORK_ERROR + result;
  return isV4InV6(result.address) ? `IPv4-mapped IPv6 address ${goQuote(text)} is not allowed` : result;
}

const inner = <T>(value: Value | undefined): T => (value as Wrapped<T>).inner;

/** A function of one text. */
const ofText = (name: string, id: string, result: CelType, run: (text: string) => Value): Overload =>
  fn(name, id, [STRING], result, ([text]) => run(text as string));

/** A method without arguments. */
function property<T>(type: CelType, name: string, id: string, result: CelType, read: (value: T) => Value): Overload {
  return method(name, id, [type], result, ([value]) => read(inner<T>(value)));
}

const urls: readonly Overload[] = [
  ofText('url', 'string_to_url', URL_TYPE, (text) =>
    wrapUrl(parsed(parseUrl(text), 'URL parse error during conversion from string: ')),
  ),
  ofText('isURL', 'is_url_string', BOOL, (text) => typeof parseUrl(text) !== 'string'),
  property<ParsedUrl>(URL_TYPE, 'getScheme', 'url_get_scheme', STRING, ({ scheme }) => scheme),
  property<ParsedUrl>(URL_TYPE, 'getHost', 'url_get_host', STRING, ({ host }) => host),
  property<ParsedUrl>(URL_TYPE, 'getHostname', 'url_get_hostname', STRING, ({ host }) => hostnameOf(host)),
  property<ParsedUrl>(URL_TYPE, 'getPort', 'url_get_port', STRING, ({ host }) => portOf(host)),
  property<ParsedUrl>(URL_TYPE, 'getEscapedPath', 'url_get_escaped_path', STRING, ({ escapedPath }) => escapedPath),
  property<ParsedUrl>(URL_TYPE, 'getQuery', 'url_get_query', mapOf(STRING, listOf(STRING)), ({ query }) =>
    EntryMap.of(Array.from(queryOf(query), ([key, values]) => [key, new ArrayList([...values])] as const)),
  ),
];

/** `isGreaterThan` and its like on two values of one type. */
function ordering<T>(type: CelType, prefix: string, compare: (one: T, other: T) => number): readonly Overload[] {
  const of = (name: string, id: string, result: CelType, answer: (order: number) => Value): Overload =>
    method(name, `${prefix}_${id}`, [type, type], result, ([one, other]) =>
      answer(compare(inner<T>(one), inner<T>(other))),
    );
  return [
    of('isGreaterThan', 'is_greater_than', BOOL, (order) => order > 0),
    of('isLessThan', 'is_less_than', BOOL, (order) => order < 0),
    of('compareTo', 'compare_to', INT, (order) => BigInt(order)),
  ];
}

function sum(name: 'add' | 'sub', sign: 1n | -1n): readonly Overload[] {
  const run = (one: Quantity, other: Quantity): Value => wrapQuantity({ nanos: one.nanos + sign * other.nanos });
  return [
    method(name, `quantity_${name}`, [QUANTITY, QUANTITY], QUANTITY, ([one, other]) => run(inner(one), inner(other))),
    method(name, `quantity_${name}_int`, [QUANTITY, INT], QUANTITY, ([one, other]) =>
      run(inner(one), ofInteger(other as bigint)),
    ),
  ];
}

const quantities: readonly Overload[] = [
  ofText('quantity', 'string_to_quantity', QUANTITY, (text) => wrapQuantity(parsed(parseQuantity(text)))),
  ofText('isQuantity', 'is_quantity_string', BOOL, (text) => typeof parseQuantity(text) !== 'string'),
  fn('sign', 'quantity_sign', [QUANTITY], INT, ([one]) => BigInt(compareQuantities(inner(one), { nanos: 0n }))),
  ...ordering(QUANTITY, 'quantity', compareQuantities),
  property(QUANTITY, 'asApproximateFloat', 'quantity_get_float', DOUBLE, approximate),
  property<Quantity>(QUANTITY, 'isInteger', 'quantity_is_integer', BOOL, (one) => integerOf(one) !== undefined),
  property<Quantity>(QUANTITY, 'asInteger', 'quantity_get_int', INT, (one) => {
    const value = integerOf(one);
    if (value === undefined) throw new EvaluationError('cannot convert value to integer');
    return value;
  }),
  ...sum('add', 1n),
  ...sum('sub', -1n),
];

const semverOf = (text: string, tolerant: boolean): Semver | string => (tolerant ? parseTolerantly : parseSemver)(text);

const versions: readonly Overload[] = [
  ofText('semver', 'string_to_semver', SEMVER, (text) => wrapSemver(parsed(parseSemver(text)))),
  fn('semver', 'string_bool_to_semver', [STRING, BOOL], SEMVER, ([text, tolerant]) =>
    wrapSemver(parsed(semverOf(text as string, tolerant as boolean))),
  ),
  ofText('isSemver', 'is_semver_string', BOOL, (text) => typeof parseSemver(text) !== 'string'),
  fn('isSemver', 'is_semver_string_bool', [STRING, BOOL], BOOL, ([text, tolerant]) => {
    return typeof semverOf(text as string, tolerant as boolean) !== 'string';
  }),
  ...ordering(SEMVER, 'semver', compareSemver),
  property<Semver>(SEMVER, 'major', 'semver_major', INT, ({ major }) => major),
  property<Semver>(SEMVER, 'minor', 'semver_minor', INT, ({ minor }) => minor),
  property<Semver>(SEMVER, 'patch', 'semver_patch', INT, ({ patch }) => patch),
];

const addresses: readonly Overload[] = [
  ofText('ip', 'string_to_ip', IP, (text) => wrapAddress(parsed(address(text)))),
  ofText('isIP', 'is_ip', BOOL, (text) => typeof address(text) !== 'string'),
  ofText('ip.isCanonical', 'ip_is_canonical', BOOL, (text) => formatAddress(parsed(address(text))) === text),
  fn('string', 'ip_to_string', [IP], STRING, ([one]) => formatAddress(inner(one))),
  property<Address>(IP, 'family', 'ip_family', INT, ({ bits }) => (bits === 32 ? 4n : 6n)),
  property(IP, 'isUnspecified', 'ip_is_unspecified', BOOL, isUnspecified),
  property(IP, 'isLoopback', 'ip_is_loopback', BOOL, isLoopback),
  property(IP, 'isLinkLocalMulticast', 'ip_is_link_local_multicast', BOOL, isLinkLocalMulticast),
  property(IP, 'isLinkLocalUnicast', 'ip_is_link_local_unicast', BOOL, isLinkLocalUnicast),
  property(IP, 'isGlobalUnicast', 'ip_is_global_unicast', BOOL, isGlobalUnicast),
  ofText('cidr', 'string_to_cidr', CIDR, (text) => wrapNetwork(parsed(network(text), NETWORK_ERROR))),
  ofText('isCIDR', 'is_cidr', BOOL, (text) => typeof network(text) !== 'string'),
  fn('string', 'cidr_to_string', [CIDR], STRING, ([one]) => formatNetwork(inner(one))),
  method('containsIP', 'cidr_contains_ip_string', [CIDR, STRING], BOOL, ([one, text]) =>
    holds(inner(one), parsed(address(text as string))),
  ),
  method('containsIP', 'cidr_contains_ip_ip', [CIDR, IP], BOOL, ([one, other]) => holds(inner(one), inner(other))),
  method('containsCIDR', 'cidr_contains_cidr_string', [CIDR, STRING], BOOL, ([one, text]) =>
    holdsNetwork(inner(one), parsed(network(text as string), NETWORK_ERROR)),
  ),
  method('containsCIDR', 'cidr_contains_cidr', [CIDR, CIDR], BOOL, ([one, other]) =>
    holdsNetwork(inner(one), inner(other)),
  ),
  property<Network>(CIDR, 'ip', 'cidr_ip', IP, (one) => wrapAddress(one.address)),
  property<Network>(CIDR, 'prefixLength', 'cidr_prefix_length', INT, ({ length }) => BigInt(length)),
  property<Network>(CIDR, 'masked', 'cidr_masked', CIDR, (one) => wrapNetwork(masked(one))),
];

export const kubernetes: readonly Overload[] = [...urls, ...quantities, ...versions, ...addresses];
/** Types that expressions may name. */
export const kubernetesTypes: readonly CelType[] = [IP, CIDR];
