/** Theme, density and the nonce of the page's styles around everything that is shown. */
import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import './tokens.css';
import './base.css';
import { lazy, type ReactNode, Suspense, useLayoutEffect, useMemo, useState } from 'react';
import { MantineProvider } from '@mantine/core';
import { type Density, DensityContext, keepDensity, keptDensity } from './density';
import { makeTheme, mantineVariables } from './theme';

/** Browsers hide the attribute from scripts of others, and show the property to ours. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
// react-remove-scroll, used by Mantine's dialogs, looks here for the nonce of its style element.
Object.assign(globalThis, { __webpack_nonce__: nonce });

/** Loads after the page. Without the scripts of its notifications the page still works. */
const Notifications = lazy(async () => {
  const part = await import('@mantine/notifications').catch(() => undefined);
  const Shown = part?.Notifications;
  return { default: () => Shown && <Shown position="bottom-right" /> };
});

export function Look({ children }: { readonly children: ReactNode }) {
  const [density, setDensity] = useState<Density>(keptDensity);
  useLayoutEffect(() => {
    document.documentElement.dataset['density'] = density;
    keepDensity(density);
  }, [density]);
  const theme = useMemo(() => makeTheme(density), [density]);
  const choice = useMemo(() => ({ density, setDensity }), [density]);
  return (
    <DensityContext value={choice}>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={mantineVariables}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <Suspense>
          <Notifications />
        </Suspense>
        {children}
      </MantineProvider>
    </DensityContext>
  );
}
