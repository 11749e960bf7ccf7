/** How close things stand, chosen by the viewer and kept in this browser. */
import { createContext, useContext } from 'react';

export type Density = 'comfortable' | 'compact';

const storageKey = 'flotilla.density';

export function keptDensity(): Density {
  return localStorage.getItem(storageKey) === 'compact' ? 'compact' : 'comfortable';
}

export function keepDensity(density: Density): void {
  localStorage.setItem(storageKey, density);
}

interface DensityChoice {
  readonly density: Density;
  readonly setDensity: (density: Density) => void;
}

export const DensityContext = createContext<DensityChoice>({ density: 'comfortable', setDensity: () => undefined });

export function useDensity(): DensityChoice {
  return useContext(DensityContext);
}
