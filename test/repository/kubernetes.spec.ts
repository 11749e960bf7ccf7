/** The manifests in deploy/kubernetes fit the schemas of Kubernetes, the hub and each other. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { defaultPorts, hubSettings } from '../src/deployment/hub-settings.js';
import { kustomize, type Resource } from '../src/deployment/kustomize.js';
import { schemaProblems } from '../src/deployment/manifest-schemas.js';
import { podsOf, type HubPod } from '../src/deployment/pods.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const folder = path.join(root, 'deploy/kubernetes');
const tls = path.join(folder, 'components/tls');
const overlay = (name: string, components: readonly string[] = []) =>
  kustomize(path.join(folder, 'overlays', name), components);

const overlays: Readonly<Record<string, readonly Resource[]>> = {
  'one-process': overlay('one-process'),
  'one-process with TLS': overlay('one-process', [tls]),
  'roles-apart': overlay('roles-apart'),
  'roles-apart with TLS': overlay('roles-apart', [tls]),
};
const monitoring = kustomize(path.join(folder, 'monitoring'));
const all = Object.entries(overlays);
const pods = all.flatMap(([, resources]) => podsOf(resources));

type Labels = Readonly<Record<string, string>>;
/** A field of a resource, with the type that its schema gives it. */
const specOf = <Spec>(resource: Resource | undefined) => resource?.['spec'] as unknown as Spec;
const ofKind = (resources: readonly Resource[], kind: string) => resources.filter((resource) => resource.kind === kind);
const selected = (resources: readonly Resource[], labels: Labels) =>
  podsOf(resources).filter((pod) => Object.entries(labels).every(([name, value]) => pod.labels[name] === value));
const portsOf = ({ container }: HubPod) => new Map(container.ports.map((port) => [port.name, port.containerPort]));
const valueOf = ({ container }: HubPod, name: string) =>
  container.env.find((variable) => variable.name === name)?.value;

interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort: string | number;
  readonly nodePort?: number;
}
interface ServiceSpec {
  readonly type?: string;
  readonly selector: Labels;
  readonly ports: readonly ServicePort[];
}

describe('each set of manifests', () => {
  it.each([...all, ['monitoring', monitoring] as const])('fits the published schemas: %s', (_name, resources) => {
    expect(schemaProblems(resources)).toEqual([]);
  });

  it('is checked for wrong values, missing fields and fields that do not exist', () => {
    const [pod] = ofKind(overlay('one-process'), 'Deployment');
    const bent = (spec: object) => [{ ...pod, spec: { ...specOf<object>(pod), ...spec } }] as unknown as Resource[];
    expect(schemaProblems(bent({ replicas: 'one' })).join()).toContain('replicas must be integer');
    expect(schemaProblems(bent({ selector: undefined })).join()).toContain('must have required property selector');
    expect(schemaProblems(bent({ replica: 1 })).join()).toContain('known properties, and \'"replica"\'');
  });

  it.each(all)('names settings that exist, and secrets and settings that are there: %s', (_name, resources) => {
    const documented = new Set(read('docs/kubernetes.md').match(/(?<=secret generic )[\w-]+/g));
    for (const { container } of podsOf(resources)) {
      expect(hubSettings).toEqual(expect.arrayContaining(container.env.map(({ name }) => name)));
      for (const { configMapRef, secretRef } of container.envFrom) {
        const map = resources.find(
          ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name,
        );
        if (secretRef === undefined)
          expect(hubSettings).toEqual(expect.arrayContaining(Object.keys(map?.['data'] ?? 0)));
        else expect(documented).toContain(secretRef.name);
      }
    }
    expect(ofKind(resources, 'Secret')).toEqual([]);
  });

  it.each(all)('has services, budgets and scalers that lead to pods and ports: %s', (_name, resources) => {
    for (const service of ofKind(resources, 'Service')) {
      const { selector, ports } = specOf<ServiceSpec>(service);
      const [pod, ...others] = selected(resources, selector);
      expect(others).toEqual([]);
      for (const { targetPort } of ports)
        if (typeof targetPort === 'string') expect(portsOf(pod as HubPod).has(targetPort)).toBe(true);
        else expect(targetPort).toBe(defaultPorts.get('FLOTILLA_MQTTS_PORT'));
    }
    for (const budget of ofKind(resources, 'PodDisruptionBudget')) {
      const { selector } = specOf<{ readonly selector: { readonly matchLabels: Labels } }>(budget);
      expect(selected(resources, selector.matchLabels)).toHaveLength(1);
    }
    for (const scaler of ofKind(resources, 'HorizontalPodAutoscaler')) {
      const { scaleTargetRef: target } = specOf<{ readonly scaleTargetRef: { kind: string; name: string } }>(scaler);
      const [scaled] = resources.filter(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
      // Each apply would set a number that the scaler has changed.
      expect(specOf<object>(scaled)).not.toHaveProperty('replicas');
    }
  });
});

describe('a pod', () => {
  it.each(pods)('runs without privileges: $deployment', ({ spec, container }) => {
    expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).toMatchObject({ requests: { memory: expect.any(String) as string } });
    expect(container.resources.limits).toHaveProperty('memory');
  });

  it.each(pods)('can write to its data folder and to /tmp: $deployment', (pod) => {
    const mounts = new Map(pod.container.volumeMounts.map(({ mountPath, name }) => [mountPath, name]));
    expect([...mounts.keys()]).toEqual(expect.arrayContaining(['/data', '/tmp']));
    const volumes = pod.spec.volumes.map(({ name }) => name);
    expect(volumes).toEqual(expect.arrayContaining([...mounts.values()]));
    expect(valueOf(pod, 'FLOTILLA_DATA_DIR')).toMatch(/^\/data\//);
  });

  it.each(pods)('has probes of routes that exist, over the protocol of its port: $deployment', (pod) => {
    const routes = [...read('apps/hub/src/http/operations-routes.ts').matchAll(/server\.get\('([^']+)'/g)];
    const { startupProbe, livenessProbe, readinessProbe } = pod.container;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(routes.map(([, route]) => route)).toContain(httpGet.path);
      expect(portsOf(pod).get(httpGet.port)).toBe(defaultPorts.get('FLOTILLA_HTTP_PORT'));
      expect(httpGet.scheme).toBe(valueOf(pod, 'FLOTILLA_TLS_CERT') === undefined ? undefined : 'HTTPS');
    }
    expect(readinessProbe.httpGet.path).toBe('/health/ready');
    // A hub without PostgreSQL must not be restarted. [docs/operations.md]
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/health/live', '/health/live']);
  });

  it.each(pods)('has time to drain for a minute, and to write its records: $deployment', ({ spec, container }) => {
    const [program, seconds] = container.lifecycle.preStop.exec.command;
    expect(program).toBe('sleep');
    expect(spec.terminationGracePeriodSeconds).toBe(Number(seconds) + 60 + 25);
  });

  it.each(pods)('opens the ports that the hub listens on: $deployment', (pod) => {
    const setTo = (name: string) => Number(valueOf(pod, name) ?? defaultPorts.get(name));
    const named = { http: 'FLOTILLA_HTTP_PORT', mqtt: 'FLOTILLA_MQTT_PORT', audio: 'FLOTILLA_UDP_PORT' };
    for (const [name, port] of portsOf(pod)) expect(port).toBe(setTo(named[name as keyof typeof named]));
  });
});

describe('one process', () => {
  const resources = overlays['one-process'] ?? [];

  it('is never two, and keeps its data', () => {
    const [deployment] = ofKind(resources, 'Deployment');
    expect(specOf(deployment)).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    const [pod] = podsOf(resources);
    const claim = ofKind(resources, 'PersistentVolumeClaim')[0]?.metadata.name;
    expect(pod?.spec.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: claim } });
    expect(valueOf(pod as HubPod, 'FLOTILLA_ROLES')).toBeUndefined();
  });

  it('serves MQTT and audio at one address, over TCP and UDP', () => {
    const devices = resources.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'flotilla-devices');
    const { type, ports } = specOf<ServiceSpec>(devices);
    expect(type).toBe('LoadBalancer');
    expect(ports.map(({ port, protocol = 'TCP' }) => `${protocol} ${port}`)).toEqual(['TCP 1883', 'UDP 8884']);
  });
});

describe('roles apart', () => {
  const resources = overlays['roles-apart'] ?? [];

  it('are one Deployment each, with a budget', () => {
    const roles = podsOf(resources).map((pod) => [pod.deployment, valueOf(pod, 'FLOTILLA_ROLES')]);
    expect(roles).toEqual(['gateway', 'api', 'worker'].map((role) => [`flotilla-${role}`, role]));
    expect(ofKind(resources, 'PodDisruptionBudget')).toHaveLength(3);
  });

  it('send audio to the node of the gateway, at the port that devices receive', () => {
    const audio = resources.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'flotilla-audio');
    const [gateway] = podsOf(resources).filter((pod) => valueOf(pod, 'FLOTILLA_ROLES') === 'gateway');
    const [port] = specOf<ServiceSpec>(audio).ports;
    expect(specOf(audio)).toMatchObject({ type: 'NodePort', externalTrafficPolicy: 'Local' });
    expect(port?.nodePort).toBe(Number(valueOf(gateway as HubPod, 'FLOTILLA_UDP_PORT')));
  });

  it('scale gateways by a metric that the adapter makes of the hub’s', () => {
    const [scaler] = ofKind(resources, 'HorizontalPodAutoscaler');
    const adapter = read('deploy/kubernetes/monitoring/prometheus-adapter-values.yaml');
    const name = /^ +as: (\w+)$/m.exec(adapter)?.[1];
    expect(specOf<object>(scaler)).toMatchObject({ metrics: [{ pods: { metric: { name } } }] });
    const series = /seriesQuery: '(\w+)\{/.exec(adapter)?.[1];
    expect(read('apps/hub/src/measures/metrics.ts')).toContain(`name: '${series}'`);
  });
});

describe('the monitor', () => {
  it('reads the metrics of each pod', () => {
    const [monitor] = ofKind(monitoring, 'PodMonitor');
    const { selector, podMetricsEndpoints } = specOf<{
      readonly selector: { readonly matchLabels: Labels };
      readonly podMetricsEndpoints: readonly { readonly port: string }[];
    }>(monitor);
    for (const [, resources] of all)
      expect(selected(resources, selector.matchLabels)).toHaveLength(podsOf(resources).length);
    expect(podMetricsEndpoints).toMatchObject([{ port: 'http', path: '/metrics' }]);
  });
});

describe('the secrets of docs/kubernetes.md', () => {
  it('have settings of the hub, or credentials of the bucket', () => {
    const names = [...read('docs/kubernetes.md').matchAll(/--from-literal=([A-Z_]+)=/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(5);
    expect([...hubSettings, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']).toEqual(expect.arrayContaining(names));
  });
});
