/** Starts the console in the browser. */
import { StrictMode } from 'react';
import { RouterProvider } from '@tanstack/react-router';
import i18next from 'i18next';
import { createRoot } from 'react-dom/client';
import { HubProvider } from './hub/hub';
import { Look } from './look/look';
import { translateValidation } from './parts/validation/translate-validation';
import { router } from './routes';
import { Entrance } from './shell/entrance';
import { NoStrings } from './shell/no-strings';
import { openStrings } from './strings/language';

const element = document.getElementById('root');
if (!element) throw new Error('index.html has no #root.');
const areOpen = await openStrings();
translateValidation(document, i18next.t);
createRoot(element).render(
  <StrictMode>
    <Look>
      {areOpen ? (
        <HubProvider entrance={(state) => <Entrance state={state} />}>
          <RouterProvider router={router} />
        </HubProvider>
      ) : (
        <NoStrings />
      )}
    </Look>
  </StrictMode>,
);
