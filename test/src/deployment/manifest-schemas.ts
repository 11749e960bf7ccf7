/**
 * Checks Kubernetes manifests against the published schemas, as the packages kubernetes-models and
 * @kubernetes-models/prometheus-operator have them: values at run time, unknown fields by types.
 */
import { PodMonitor, PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, PersistentVolumeClaim, Service, ServiceAccount } from 'kubernetes-models/v1';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { Resource } from './kustomize.js';

const operator = '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
const models = [
  { module: 'kubernetes-models/apps/v1', name: 'Deployment', model: Deployment },
  { module: 'kubernetes-models/autoscaling/v2', name: 'HorizontalPodAutoscaler', model: HorizontalPodAutoscaler },
  { module: 'kubernetes-models/networking.k8s.io/v1', name: 'Ingress', model: Ingress },
  { module: 'kubernetes-models/policy/v1', name: 'PodDisruptionBudget', model: PodDisruptionBudget },
  { module: 'kubernetes-models/v1', name: 'ConfigMap', model: ConfigMap },
  { module: 'kubernetes-models/v1', name: 'PersistentVolumeClaim', model: PersistentVolumeClaim },
  { module: 'kubernetes-models/v1', name: 'Service', model: Service },
  { module: 'kubernetes-models/v1', name: 'ServiceAccount', model: ServiceAccount },
  { module: operator, name: 'PodMonitor', model: PodMonitor },
  { module: operator, name: 'PrometheusRule', model: PrometheusRule },
] as const;

function modelOf({ apiVersion, kind }: Resource): (typeof models)[number] | undefined {
  return models.find(({ model }) => model.apiVersion === apiVersion && model.kind === kind);
}

/** Wrong, missing and unknown fields and versions, one sentence each. */
export function schemaProblems(resources: readonly Resource[]): readonly string[] {
  const invalid = resources.flatMap((resource) => {
    const { kind, metadata } = resource;
    const found = modelOf(resource);
    if (found === undefined) return [`${kind} ${metadata.name}: ${resource.apiVersion} has no schema here`];
    const Model = found.model as unknown as new (data: Resource) => { validate(): void };
    try {
      new Model(resource).validate();
      return [];
    } catch (error) {
      return [`${kind} ${metadata.name}: ${String(error)}`];
    }
  });
  return [...invalid, ...typeProblems(resources)];
}

/** The schemas accept unknown fields. The compiler does not, in a literal. */
function typeProblems(resources: readonly Resource[]): readonly string[] {
  const text = resources
    .flatMap((resource, index) => {
      const found = modelOf(resource);
      if (found === undefined) return [];
      const type = `import('${found.module}').I${found.name}`;
      return [`export const r${index}: ${type} = ${JSON.stringify(resource, null, 1)};`];
    })
    .join('\n');
  // Next to this file, so that packages are found; it is never written.
  const file = path.join(path.dirname(fileURLToPath(import.meta.url)), 'rendered-manifests.ts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.Latest) : getSourceFile(name, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ').slice(0, 300));
}
