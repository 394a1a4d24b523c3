/** What Kubernetes adds to the language, function by function. Compared with the real server's answers. */
import { test } from 'node:test';
import { holds } from '../show-testing.ts';

test('strings', () => {
  holds(String.raw`
    "abc".charAt(3) => ""
    "abc".charAt(4) => error: index out of range: 4
    "a😀b".charAt(1) => "😀"
    "a😀b".indexOf("b") => 2
    "abc".indexOf("c", 4) => -1
    "abc".lastIndexOf("a", -1) => error: index out of range: -1
    "tacocat".lastIndexOf("at", 3) => -1
    "abc".substring(2, 1) => error: invalid substring range. start: 2, end: 1
    "a😀b".substring(1, 2) => "😀"
    "a,b,c".split(",", 2) => ["a", "b,c"]
    "a,b,c".split(",", 0) => []
    "".split(",") => [""]
    "abc".replace("", "-", 2) => "-a-bc"
    "abc".replace("b", "$&") => "a$&c"
    "ÄbC".lowerAscii() => "Äbc"
    "\u00a0 x\u3000".trim() => "x"
    "\ufeffx".trim().size() => 2
    ["a", "b"].join("-") => "a-b"
    strings.quote("a\"b\n") => "\"a\\\"b\\n\""
    "abc".reverse() => error: ERROR: <input>:1:14: found no matching overload for 'reverse' applied to 'string.()'
  `);
});

test('format', () => {
  holds(String.raw`
    "%f".format([1234567.5]) => "1,234,567.500000"
    "%.3f".format([1.2345]) => "1.234"
    "%.0f".format([2.5]) => "2"
    "%e".format([1234567.5]) => "1.234568×10⁰⁶"
    "%x %X %b %o %%".format([255, 255, 5, 8]) => "ff FF 101 10 %"
    "%x".format(["abc"]) => "616263"
    "%s %s %s".format([[1, 2], {"b": 1, "a": "x"}, null]) => "[1, 2] {\"a\":\"x\", \"b\":1} null"
    "%s".format([[1.5, 2.0]]) => "[1.500000, 2.000000]"
    "%d".format([self]) | self = "x" => error: error during formatting: decimal clause can only be used on integers, was given string
    "%q".format([1]) => error: ERROR: <input>:1:12: could not parse formatting clause: unrecognized formatting clause "q"
    "%d".format([1, 2]) => error: ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, got 2)
  `);
});

test('lists and sets', () => {
  holds(String.raw`
    [3, 1, 2].sort() => [1, 2, 3]
    [3, 1, 2].sortBy(x, -x) => [3, 2, 1]
    ["a"].isSorted() => true
    [1, 2].sum() => 3
    [].sum() => 0
    [].max() => error: max called on empty list
    [1, 2, 3].slice(1, 3) => [2, 3]
    [1, 2, 3].slice(0, 4) => error: cannot slice(0, 4), list is length 3
    [[1], [2]].flatten() => [1, 2]
    [1, 1, 2].distinct() => [1, 2]
    [1, 2].reverse() => [2, 1]
    lists.range(3) => [0, 1, 2]
    [1, 2].indexOf(2) => 1
    sets.contains([1, 2], [1]) => true
    sets.intersects([1], [2]) => false
  `);
});

test('regular expressions', () => {
  holds(String.raw`
    "abcb".find("b+") => "b"
    "abcb".findAll("b") => ["b", "b"]
    "abcb".findAll("b", 1) => ["b"]
    "abc".matches("^[a-c]+$") => true
    self.matches(self) | self = "(" => error: error parsing regexp: missing closing ): ${'`'}(${'`'}
    self.find(self) | self = "(" => error: Illegal regex: error parsing regexp: missing closing ): ${'`'}(${'`'}
  `);
});

test('addresses', () => {
  holds(String.raw`
    ip("1.2.3.4").family() => 4
    ip("fe80::1").isLinkLocalUnicast() => true
    ip("8.8.8.8").isGlobalUnicast() => true
    ip("224.0.0.1").isLinkLocalMulticast() => true
    string(ip("2001:DB8::0001")) => "2001:db8::1"
    string(ip("1:0:0:2:0:0:0:3")) => "1:0:0:2::3"
    ip.isCanonical("2001:DB8::1") => false
    ip("::ffff:1.2.3.4") => error: IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed
    ip("fe80::1%eth0") => error: IP address "fe80::1%eth0" with zone value is not allowed
    ip("1.2.3") => error: IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short
    ip("01.2.3.4") => error: IP Address "01.2.3.4" parse error during conversion from string: ParseAddr("01.2.3.4"): IPv4 field has octet with leading zero
    isIP("::1::2") => false
    cidr("10.0.0.0/8").containsIP("10.1.2.3") => true
    cidr("10.0.0.0/8").containsCIDR(cidr("10.0.0.0/7")) => false
    cidr("::/0").containsIP(ip("1::")) => true
    string(cidr("10.1.2.3/8").masked()) => "10.0.0.0/8"
    cidr("10.0.0.0/8").prefixLength() => 8
    isCIDR("10.0.0.0/33") => false
    type(ip("1.1.1.1")) == net.IP => true
    url("https://a.b:80/x%20y?y=1&y=2").getQuery() => {"y": ["1", "2"]}
    url("https://a.b:80/x%20y?y=1").getEscapedPath() => "/x%20y"
    url("https://[::1]:80/").getHostname() => "::1"
    url("http://user:pw@host:8080/p?q#f").getHost() => "host:8080"
    url("x") => error: URL parse error during conversion from string: parse "x": invalid URI for request
    isURL("/path") && !isURL("a b") => true
  `);
});

test('quantities and versions', () => {
  holds(String.raw`
    quantity("1Ki").asInteger() => 1024
    quantity("1.5").asInteger() => error: cannot convert value to integer
    quantity("x") => error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    quantity("200M").compareTo(quantity("0.2G")) => 0
    quantity("50k").add(20).asInteger() => 50020
    quantity("-1.5Ki").asApproximateFloat() => double(-1536)
    sign(quantity("-1")) => -1
    isQuantity("1.5.5") => false
    semver("1.2.3").isGreaterThan(semver("1.2.3-alpha")) => true
    semver("1.0.0-2").isLessThan(semver("1.0.0-10")) => true
    semver("1.2.3+build").compareTo(semver("1.2.3")) => 0
    semver("v1.2", true).major() => 1
    semver("01.2.3") => error: Major number must not contain leading zeroes "01"
    isSemver("1.2") => false
  `);
});

test('named formats', () => {
  holds(String.raw`
    format.dns1123Label().validate("a").hasValue() => false
    format.named("nope").hasValue() => false
    format.uuid().validate("x").value() => ["does not match the UUID format"]
    format.dns1035Label().validate("1a").value() => ["a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"]
  `);
});
