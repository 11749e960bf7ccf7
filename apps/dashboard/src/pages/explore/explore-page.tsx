/** An explorer of the API: GraphiQL with the schema's documentation, as the signed-in person. */
import 'graphiql/style.css';
import { useEffect, useState } from 'react';
import { useComputedColorScheme } from '@mantine/core';
import { GraphiQL } from 'graphiql';
import { useTranslation } from 'react-i18next';
import { Page } from '../../parts/page';
import classes from './explore.module.css';
import { openHubFetcher } from './hub-fetcher';

const firstQuery = `# Ctrl-Enter runs the operation. Ctrl-Space completes names.
# Operations run with your rights, and mutations change the fleet.

query Devices {
  devices(filter: { presence: ONLINE }, first: 5) {
    nodes {
      id
      name
      model
      tools {
        name
      }
    }
  }
}
`;

export function ExplorePage() {
  const { t } = useTranslation();
  const [hub] = useState(openHubFetcher);
  useEffect(() => hub.close, [hub]);
  const theme = useComputedColorScheme('light');
  return (
    <Page title={t('nav.explore')} lead={t('explore.lead')}>
      <div className={classes.explorer} data-own-keys>
        {/* What was typed stays in this tab, and ends with it. */}
        <GraphiQL
          fetcher={hub.fetcher}
          defaultQuery={firstQuery}
          forcedTheme={theme}
          isHeadersEditorEnabled={false}
          showPersistHeadersSettings={false}
          storage={sessionStorage}
        >
          <GraphiQL.Logo>
            <span />
          </GraphiQL.Logo>
        </GraphiQL>
      </div>
    </Page>
  );
}
