/** What may stand in pods, and what of them may change. */
import type { Json } from '@reeve/kube';
import { apply, type Case, get, merge, patch, post, type Step } from '../case.ts';

export type Fields = { [key: string]: Json };

const pods = '/api/v1/namespaces/<ns>/pods';
const container: Fields = { name: 'c', image: 'i' };
const pod = (name: string, spec: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [container], ...spec },
});
const refused = (spec: Fields): Step => post(pods, pod('no', spec), { code: 422 });
const withContainer = (more: Fields): Step => refused({ containers: [{ ...container, ...more }] });
const withVolume = (...volumes: readonly Fields[]): Step => refused({ volumes: [...volumes] });
const accepted = (name: string, spec: Fields): Step => post(pods, pod(name, spec));
const odd = (name: string, more: Fields): Step => accepted(name, { containers: [{ ...container, ...more }] });

export const podCases: readonly Case[] = [
  {
    name: 'pods: containers',
    steps: [
      refused({ containers: [] }),
      refused({ containers: [{}] }),
      refused({ containers: [container, { ...container, name: 'Not_A_Label' }, container] }),
      refused({ initContainers: [container, { name: 'i', image: 'i', readinessProbe: { exec: { command: ['a'] } } }] }),
      withContainer({ imagePullPolicy: 'Sometimes', terminationMessagePolicy: 'Shout', image: ' i ' }),
      withContainer({ securityContext: { runAsUser: -1, runAsGroup: 4_294_967_296 } }),
      withContainer({ restartPolicy: 'Maybe' }),
      refused({ initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always', lifecycle: { preStop: {} } }] }),
      post(pods, { metadata: { name: 'no' } }, { code: 422 }),
    ],
  },
  {
    name: 'pods: ports',
    steps: [
      withContainer({ ports: [{ containerPort: 0 }, { containerPort: 70_000, hostPort: -1, protocol: 'HTTP' }] }),
      withContainer({
        ports: [
          { containerPort: 1, name: 'much-too-long-a-name' },
          { containerPort: 2, name: '-a--b' },
        ],
      }),
      withContainer({
        ports: [
          { containerPort: 1, name: 'a' },
          { containerPort: 2, name: 'a' },
        ],
      }),
      withContainer({
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5 },
        ],
      }),
      withContainer({ ports: [{ containerPort: 1, name: '123' }] }),
      refused({ hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 2 }] }] }),
    ],
  },
  {
    name: 'pods: environment',
    steps: [
      withContainer({ env: [{ value: 'a' }, { name: 'a=b' }, { name: 'ä' }, { name: '1 is fine' }] }),
      withContainer({ env: [{ name: 'a', valueFrom: {} }] }),
      withContainer({ env: [{ name: 'a', value: 'b', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
      withContainer({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } }] }),
      withContainer({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }] }),
      withContainer({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: "spec.nodeName['a']" } } }] }),
      withContainer({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } }] }),
      withContainer({
        env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v2' } } }],
      }),
      withContainer({ env: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } }] }),
      withContainer({ env: [{ name: 'a', valueFrom: { secretKeyRef: { name: 'Not A Name', key: 'a/b' } } }] }),
      withContainer({ env: [{ name: 'a', valueFrom: { configMapKeyRef: { name: 'n', key: '..' } } }] }),
      withContainer({ envFrom: [{ prefix: 'a=' }, { configMapRef: { name: 'A B' } }] }),
      withContainer({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'a' } }] }),
    ],
  },
  {
    name: 'pods: volumes and mounts',
    steps: [
      withContainer({ volumeMounts: [{ name: 'none', mountPath: '/a' }, { mountPath: '' }] }),
      refused({
        volumes: [{ name: 'v', emptyDir: {} }],
        containers: [
          {
            ...container,
            volumeMounts: [
              { name: 'v', mountPath: '/a' },
              { name: 'v', mountPath: '/a', subPath: '../b' },
              { name: 'v', mountPath: '/b', subPath: '/c', subPathExpr: 'd' },
            ],
          },
        ],
      }),
      withVolume({ name: 'Bad Name', emptyDir: {} }, { emptyDir: {} }),
      withVolume({ name: 'a', emptyDir: {} }, { name: 'a', emptyDir: {} }),
      withVolume({ name: 'a', emptyDir: {}, hostPath: { path: '/a' } }),
      withVolume({ name: 'a', emptyDir: { sizeLimit: '-1' } }),
      withVolume({ name: 'a', hostPath: { path: '' } }, { name: 'b', hostPath: { path: '/../a', type: 'Moon' } }),
      withVolume({ name: 'a', secret: {} }, { name: 'b', configMap: {} }, { name: 'c', persistentVolumeClaim: {} }),
      withVolume({ name: 'a', secret: { secretName: 's', defaultMode: 512, items: [{ key: '', path: '' }] } }),
      withVolume({ name: 'a', configMap: { name: 's', items: [{ key: 'k', path: '/p', mode: -1 }] } }),
      withVolume({ name: 'a', configMap: { name: 's', items: [{ key: 'k', path: '..p' }] } }),
      withVolume({ name: 'a', downwardAPI: { items: [{ path: '' }] } }),
      withVolume({ name: 'a', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nodeName' } }] } }),
      withVolume({ name: 'a', downwardAPI: { items: [{ path: 'p', resourceFieldRef: { resource: 'limits.cpu' } }] } }),
      withVolume({
        name: 'a',
        projected: { sources: [{ secret: {} }, { configMap: { name: 'a' }, secret: { name: 'b' } }] },
      }),
      withVolume({ name: 'a', projected: { sources: [{ serviceAccountToken: { path: '', expirationSeconds: 1 } }] } }),
      withVolume({ name: 'a', ephemeral: {} }),
      withVolume({ name: 'a', ephemeral: { volumeClaimTemplate: { spec: {} } } }),
    ],
  },
  {
    name: 'pods: probes and hooks',
    steps: [
      withContainer({ livenessProbe: {} }),
      withContainer({ livenessProbe: { exec: { command: [] }, tcpSocket: { port: 1 } } }),
      withContainer({ livenessProbe: { tcpSocket: { port: 0 }, successThreshold: 2, initialDelaySeconds: -1 } }),
      withContainer({
        readinessProbe: { httpGet: { port: 'a-', scheme: 'FTP', httpHeaders: [{ name: 'a b', value: '' }] } },
      }),
      withContainer({ readinessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 5 } }),
      withContainer({
        startupProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 0, periodSeconds: -5 },
      }),
      withContainer({ lifecycle: { postStart: {}, preStop: { sleep: { seconds: 100 } } } }),
      odd('good', {
        readinessProbe: { httpGet: { port: 'web' }, successThreshold: 3 },
        lifecycle: { preStop: { sleep: { seconds: 1 } } },
      }),
    ],
  },
  {
    name: 'pods: resources',
    steps: [
      withContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
      withContainer({ resources: { requests: { cpu: '-1', memory: '-1Gi' } } }),
      withContainer({ resources: { requests: { gpu: '1', storage: '1' } } }),
      withContainer({ resources: { limits: { 'e.com/gpu': '1.5', 'a b/c': '1' }, requests: { 'e.com/gpu': '1' } } }),
      withContainer({ resources: { requests: { 'e.com/gpu': '1' } } }),
      post(pods, pod('no', { containers: [{ ...container, resources: { requests: { cpu: 'much' } } }] }), {
        code: 400,
      }),
      post(pods, pod('no', { containers: [{ ...container, resources: { requests: { cpu: '1x' } } }] }), { code: 400 }),
      odd('good', { resources: { requests: { cpu: '0.5', memory: '1.5Gi' }, limits: { 'e.com/gpu': '2' } } }),
    ],
  },
  {
    name: 'pods: the rest of the spec',
    steps: [
      refused({ restartPolicy: 'Perhaps', dnsPolicy: 'Any', hostname: 'A.b', subdomain: 'a.b', nodeName: 'A B' }),
      refused({
        serviceAccountName: 'A B',
        activeDeadlineSeconds: 0,
        nodeSelector: { 'a b': 'c d' },
      }),
      refused({ tolerations: [{ operator: 'Equal' }, { key: 'a b', operator: 'Exists', value: 'x' }] }),
      refused({
        tolerations: [
          { key: 'a', effect: 'Soon', operator: 'Like' },
          { key: 'a', tolerationSeconds: 1 },
        ],
      }),
      refused({ hostAliases: [{ ip: 'x', hostnames: ['A B'] }] }),
      refused({ securityContext: { fsGroup: -1, runAsUser: -1 } }),
      refused({ readinessGates: [{ conditionType: 'a b' }] }),
      refused({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Maybe' }] }),
      refused({
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: '', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
            ],
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 101, podAffinityTerm: { topologyKey: 'k', namespaces: ['A'] } },
            ],
          },
        },
      }),
      refused({ ephemeralContainers: [{ name: 'e', image: 'i' }] }),
    ],
  },
  {
    name: 'pods: what may change',
    steps: [
      accepted('a', { tolerations: [{ key: 'k', operator: 'Exists' }], activeDeadlineSeconds: 100 }),
      merge(`${pods}/a`, { spec: { containers: [{ name: 'c', image: 'other' }] } }),
      merge(`${pods}/a`, { spec: { activeDeadlineSeconds: 50 } }),
      merge(`${pods}/a`, { spec: { activeDeadlineSeconds: 200 } }, { code: 422 }),
      merge(`${pods}/a`, { spec: { activeDeadlineSeconds: null } }, { code: 422 }),
      merge(`${pods}/a`, { spec: { tolerations: [] } }, { code: 422 }),
      patch('json', `${pods}/a`, [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'l', operator: 'Exists' } }]),
      merge(`${pods}/a`, { spec: { containers: [{ name: 'c', image: '' }] } }, { code: 422 }),
      merge(`${pods}/a`, { spec: { containers: [container, { name: 'd', image: 'i' }] } }, { code: 422 }),
      merge(`${pods}/a/status`, { status: { qosClass: 'Guaranteed' } }, { code: 422 }),
      merge(`${pods}/a/status`, { status: { conditions: [{ type: 'a b', status: 'True' }] } }, { code: 422 }),
      merge(`${pods}/a/status`, { status: { podIPs: [{ ip: 'x' }] } }, { code: 422 }),
      get(`${pods}/a`),
    ],
  },
  {
    name: 'pods: what may not change',
    steps: [
      accepted('a', {}),
      merge(`${pods}/a`, { spec: { hostname: 'other' } }, { code: 422 }),
      merge(`${pods}/a`, { spec: { containers: [{ ...container, args: ['x'] }] } }, { code: 422 }),
      get(`${pods}/a`),
    ],
  },
  {
    name: 'pods: warnings',
    steps: [
      post(pods, pod('with.dot')),
      odd('env', { env: ['a', 'b', 'a'].map((name) => ({ name, value: `of ${name}` })) }),
      odd('env-ref', { env: ['x', '$(a)', 'y$(a)'].map((value) => ({ name: 'a', value })) }),
      odd('ports', {
        ports: [{ containerPort: 80 }, { containerPort: 80, hostPort: 80 }, { containerPort: 80, protocol: 'UDP' }],
      }),
      accepted('two', {
        containers: ['a', 'b'].map((name) => ({ name, image: 'i', ports: [{ containerPort: 80, name: 'web' }] })),
        initContainers: [{ name: 'i', image: 'i', ports: [{ containerPort: 80 }] }],
      }),
      odd('fractions', {
        resources: { requests: { memory: '100m' }, limits: { memory: '1', 'ephemeral-storage': '1500m' } },
      }),
      accepted('many', {
        terminationGracePeriodSeconds: -5,
        hostAliases: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }],
        imagePullSecrets: [{ name: 'a' }, { name: 'a' }],
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'k', whenUnsatisfiable: 'DoNotSchedule' }],
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k' }] } },
      }),
      apply('x', `${pods}/env`, pod('env')),
    ],
  },
];
