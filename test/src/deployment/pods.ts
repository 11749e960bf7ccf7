/** What the Deployments of rendered manifests say about their pods. */
import type { Resource } from './kustomize.js';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string; readonly scheme?: string };
}

interface Container {
  readonly name: string;
  readonly env: readonly Variable[];
  readonly envFrom: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string; readonly optional?: boolean };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number; readonly protocol?: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}

/** A Deployment of the hub and its only container. */
export interface HubPod {
  readonly deployment: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  readonly container: Container;
}

export function podsOf(resources: readonly Resource[]): readonly HubPod[] {
  return resources
    .filter(({ kind }) => kind === 'Deployment')
    .map((resource) => {
      const { template } = resource['spec'] as unknown as {
        readonly template: {
          readonly metadata: { readonly labels: Readonly<Record<string, string>> };
          readonly spec: PodSpec;
        };
      };
      const [container] = template.spec.containers;
      if (container === undefined) throw new Error(`${resource.metadata.name} has no container.`);
      return { deployment: resource.metadata.name, ...template.metadata, spec: template.spec, container };
    });
}

/** Values of fields that only a cluster knows. */
const fields: Readonly<Record<string, string>> = { 'status.hostIP': '127.0.0.1' };

/** The environment of a pod, with its secrets as given by name. */
export function environmentOf(
  { container }: HubPod,
  resources: readonly Resource[],
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Readonly<Record<string, string>> {
  const common = container.envFrom.map(({ configMapRef, secretRef }) => {
    if (secretRef !== undefined) return secrets[secretRef.name] ?? {};
    const map = resources.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name);
    return (map?.['data'] ?? {}) as Readonly<Record<string, string>>;
  });
  const own = container.env.map(({ name, value, valueFrom }) => [
    name,
    value ?? fields[valueFrom?.fieldRef.fieldPath ?? ''] ?? '',
  ]);
  return Object.assign({}, ...common, Object.fromEntries(own)) as Readonly<Record<string, string>>;
}
