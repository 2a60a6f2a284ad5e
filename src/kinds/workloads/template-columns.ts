/** The table columns that show a pod template: its containers, their images and the selector. */
import { wideColumn } from '#kinds/all-kinds/column.ts'
import type { ColumnDefinition } from '#kinds/table-columns.ts'

export const containersColumn = wideColumn('Containers', 'Names of the containers.')

export const imagesColumn = wideColumn('Images', 'Images of the containers.')

const selectorColumn = wideColumn('Selector', 'Labels of the pods it counts as its own.')

export const templateColumns: ColumnDefinition[] = [containersColumn, imagesColumn, selectorColumn]
