/** The steps of the wizard, in their order. */
export const steps = ['what', 'whom', 'pace', 'stop', 'check'] as const;
export type StepName = (typeof steps)[number];
