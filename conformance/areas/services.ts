/** Addresses and ports of services. Those that are asked for are of the part of the ranges that no server chooses from. */
import type { Json } from '@reeve/kube';
import { apply, type Area, type Case, get, merge, post, put, remove, type Step } from '../case.ts';

type Fields = { [key: string]: Json };

const services = '/api/v1/namespaces/<ns>/services';
const ports: Json = [{ port: 80 }];
const selector = { app: 'x' };
const service = (name: string, spec: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector, ports, ...spec },
});
const create = (
  name: string,
  spec: Fields = {},
  options: { code?: number; query?: Record<string, string> } = {},
): Step => post(services, service(name, spec), options);
const refused = (spec: Fields): Step => create('no', spec, { code: 422 });
const aCase = (name: string, ...steps: readonly Step[]): Case => ({ name, steps: [...steps, get(services)] });

const addresses: readonly Case[] = [
  aCase(
    'an address is given, and kept',
    create('a'),
    create('b'),
    put(`${services}/a`, service('a', { ports: [{ port: 81 }] })),
    merge(`${services}/a`, { spec: { clusterIP: null } }),
    merge(`${services}/a`, { spec: { clusterIP: null, clusterIPs: null } }),
    merge(`${services}/a`, { spec: { clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null } }),
    merge(`${services}/a`, { spec: { clusterIP: '' } }),
    merge(`${services}/a`, { spec: { clusterIP: '10.96.0.40' } }, { code: 422 }),
    merge(`${services}/a`, { spec: { clusterIP: 'None' } }, { code: 422 }),
    merge(`${services}/a`, { spec: { ipFamilies: ['IPv6'] } }, { code: 422 }),
    { change: { spec: { clusterIP: 'None', clusterIPs: ['None'] } }, path: `${services}/a`, code: 422 },
  ),
  aCase(
    'an address that belongs to nobody',
    apply('x', `${services}/a`, service('a')),
    apply('y', `${services}/a`, service('a', { sessionAffinity: 'ClientIP' }), { force: true }),
    apply('x', `${services}/a`, service('a', { clusterIP: '10.96.0.41' }), { code: 422 }),
    merge(`${services}/a`, { metadata: { labels: { a: 'b' } } }, { query: { fieldManager: 'z' } }),
  ),
  aCase(
    'an address that is asked for',
    create('a', { clusterIP: '10.96.0.42' }),
    create('b', { clusterIP: '10.96.0.42' }, { code: 422 }),
    create('b', { clusterIP: '10.96.0.42' }, { query: { dryRun: 'All' } }),
    create('a', { clusterIP: '10.96.0.42' }, { code: 422 }),
    create('a', { clusterIP: '10.96.0.43' }, { code: 409 }),
    create('c', { clusterIP: '10.96.0.43', clusterIPs: ['10.96.0.43'] }),
    remove(`${services}/a`),
    create('b', { clusterIP: '10.96.0.42' }),
  ),
  aCase(
    'an address of a service that is refused is free',
    create('a', { clusterIP: '10.96.0.44', sessionAffinity: 'Sometimes' }, { code: 422 }),
    create('a', { clusterIP: '10.96.0.44' }),
  ),
  aCase(
    'an address of a service that waits for its finalizer is not free',
    post(services, { ...service('a', { clusterIP: '10.96.0.45' }), metadata: { name: 'a', finalizers: ['e.com/x'] } }),
    remove(`${services}/a`),
    create('b', { clusterIP: '10.96.0.45' }, { code: 422 }),
    merge(`${services}/a`, { metadata: { finalizers: null } }),
    create('b', { clusterIP: '10.96.0.45' }),
  ),
  aCase(
    'addresses that cannot be had',
    refused({ clusterIP: '10.1.2.3' }),
    refused({ clusterIP: '10.96.0.0' }),
    refused({ clusterIP: '10.96.255.255' }),
    refused({ clusterIP: 'fd00::1' }),
    refused({ clusterIP: 'somewhere' }),
    refused({ clusterIP: '1.2.3' }),
    refused({ clusterIPs: ['10.96.0.46'] }),
    refused({ clusterIP: '10.96.0.46', clusterIPs: ['10.96.0.47'] }),
    refused({ clusterIP: '10.96.0.46', clusterIPs: ['10.96.0.46', '10.96.0.47'] }),
    refused({ clusterIP: 'None', clusterIPs: ['None', '10.96.0.47'] }),
    refused({ clusterIP: '10.96.0.46', clusterIPs: ['10.96.0.46', 'fd00::1'], ipFamilyPolicy: 'PreferDualStack' }),
  ),
  aCase(
    'families',
    create('a', { ipFamilyPolicy: 'PreferDualStack' }),
    merge(`${services}/a`, { metadata: { labels: { a: 'b' } } }),
    merge(`${services}/a`, { spec: { ipFamilyPolicy: 'SingleStack' } }),
    create('b', { ipFamilies: ['IPv4'] }),
    refused({ ipFamilyPolicy: 'RequireDualStack' }),
    refused({ ipFamilies: ['IPv6'] }),
    refused({ ipFamilies: ['IPv4', 'IPv6'] }),
    refused({ ipFamilies: ['IPv4', 'IPv4'] }),
    refused({ ipFamilies: ['IPv5'], ipFamilyPolicy: 'Many' }),
    refused({ clusterIP: '10.96.0.48', ipFamilies: ['IPv6'] }),
  ),
  aCase(
    'services without addresses',
    create('headless', { clusterIP: 'None' }),
    create('open', { clusterIP: 'None', selector: null }),
    create('open-single', { clusterIP: 'None', selector: null, ipFamilyPolicy: 'SingleStack' }),
    create('open-six', { clusterIP: 'None', selector: null, ipFamilies: ['IPv6'] }),
    merge(`${services}/headless`, { spec: { clusterIP: '10.96.0.49' } }, { code: 422 }),
    merge(`${services}/headless`, { spec: { clusterIP: null } }),
    merge(`${services}/headless`, { spec: { publishNotReadyAddresses: true, ports: null } }),
    create('many', { clusterIP: 'None', sessionAffinity: 'ClientIP', type: 'ClusterIP' }),
  ),
  aCase(
    'from a name to an address, and back',
    create('a', { type: 'ExternalName', externalName: 'a.example' }),
    merge(`${services}/a`, { spec: { type: 'ClusterIP', externalName: null } }),
    merge(`${services}/a`, { spec: { type: 'ExternalName', externalName: 'a.example.' } }),
    merge(`${services}/a`, { spec: { type: 'ClusterIP', clusterIP: '10.96.0.50' } }),
    merge(`${services}/a`, { spec: { type: 'ExternalName' } }),
    create('b', { clusterIP: '10.96.0.50' }),
    refused({ type: 'ExternalName', externalName: 'a.example', clusterIP: '10.96.0.51' }),
    refused({ type: 'ExternalName', externalName: 'a.example', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }),
    refused({ type: 'ExternalName', externalName: 'not a name' }),
    refused({ type: 'ExternalName' }),
  ),
  aCase(
    'a dry run gives nothing',
    create('a', {}, { query: { dryRun: 'All' } }),
    create('a', { type: 'NodePort' }, { query: { dryRun: 'All' } }),
    create('a', { clusterIP: '10.96.0.52' }, { query: { dryRun: 'All' } }),
    create('a', { clusterIP: '10.1.1.1' }, { query: { dryRun: 'All' }, code: 422 }),
    create('b', { clusterIP: '10.96.0.52' }),
    get(`${services}/a`, { code: 404 }),
  ),
];

const two: Json = [
  { name: 'a', port: 53, protocol: 'TCP' },
  { name: 'b', port: 53, protocol: 'UDP' },
];

const nodePorts: readonly Case[] = [
  aCase(
    'ports on the nodes are given, and kept',
    create('a', { type: 'NodePort' }),
    put(`${services}/a`, service('a', { type: 'NodePort' })),
    create('b', { type: 'NodePort', ports: two }),
    merge(`${services}/a`, { spec: { type: 'ClusterIP' } }),
    merge(`${services}/a`, { spec: { type: 'LoadBalancer' } }),
    merge(`${services}/a`, { spec: { type: 'ExternalName', externalName: 'a.example' } }),
  ),
  aCase(
    'ports on the nodes that are asked for',
    create('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] }),
    create('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] }, { code: 422 }),
    create('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }, { code: 422 }),
    create('b', { type: 'ClusterIP', ports: [{ port: 80, nodePort: 30_002 }] }, { code: 422 }),
    merge(`${services}/a`, { spec: { ports: [{ port: 80, nodePort: 30_003 }] } }),
    create('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] }),
    merge(`${services}/a`, { spec: { ports: [{ port: 80, nodePort: 30_001 }] } }, { code: 422 }),
    remove(`${services}/b`),
    merge(`${services}/a`, { spec: { ports: [{ port: 80, nodePort: 30_001 }] } }),
  ),
  aCase(
    'a load balancer',
    create('a', { type: 'LoadBalancer' }),
    create('b', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
    create('c', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
    create('d', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_004 }),
    merge(`${services}/d`, { spec: { externalTrafficPolicy: 'Cluster' } }),
    merge(`${services}/b`, { spec: { healthCheckNodePort: 30_005 } }, { code: 422 }),
    merge(`${services}/b`, { spec: { type: 'ClusterIP' } }),
    merge(`${services}/a/status`, { status: { loadBalancer: { ingress: [{ hostname: 'a.example' }] } } }),
    merge(
      `${services}/b/status`,
      { status: { loadBalancer: { ingress: [{ hostname: 'a.example' }] } } },
      { code: 422 },
    ),
    merge(`${services}/a`, { spec: { type: 'ClusterIP' } }),
    refused({ type: 'LoadBalancer', clusterIP: 'None' }),
    refused({ allocateLoadBalancerNodePorts: true, loadBalancerClass: 'e.com/x' }),
  ),
];

const values: readonly Case[] = [
  aCase(
    'values of services',
    refused({ ports: null }),
    refused({ ports: [{ port: 0 }, { port: 70_000, name: 'b' }] }),
    refused({ ports: [{ port: 80, name: 'Bad Name' }] }),
    refused({
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'a' },
      ],
    }),
    refused({
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    }),
    refused({ ports: [{ port: 80, protocol: 'HTTP', targetPort: 'no--good', appProtocol: 'a b' }] }),
    refused({ ports: [{ port: 80, targetPort: 70_000 }] }),
    refused({ type: 'Other', selector: { 'a b': 'c d' } }),
    refused({ sessionAffinity: 'Sometimes' }),
    create('none', { sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }),
    refused({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 90_000 } } }),
    refused({ externalTrafficPolicy: 'Local', healthCheckNodePort: 30_006 }),
    refused({ internalTrafficPolicy: 'Elsewhere', trafficDistribution: 'Evenly' }),
    refused({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
    create('odd', { externalName: 'x.example', trafficDistribution: 'PreferClose' }),
  ),
];

export const servicesArea: Area = { name: 'services', cases: [...addresses, ...nodePorts, ...values] };
