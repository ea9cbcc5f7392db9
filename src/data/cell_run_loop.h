/* cell_run_loop.h - the loop of cell_run.h around number_read, which the including file defines:
 * the same code for every kind of processor. */
static inline size_t cell_run_loop(const struct cell_run *r, size_t column)
{
    const struct schema *s = r->s;
    for (; column < s->column_count; column++) {
        const struct column *c = s->columns + column;
        int32_t at = r->cell_of[column];
        if (c->type != COLUMN_NUMERIC || at < 0)
            return column;
        const struct csv_cell *cell = r->cells + at;
        double value;
        if (!number_read(cell->text, cell->length, s->decimal, &value))
            return column;
        const struct number_slot *n = s->numbers + c->number;
        float v = (float)(value - n->offset);
        memcpy(r->out + 4 * (size_t)c->number, &v, sizeof v);
        if (r->drift)
            r->drift->outside[column] += v < n->low || v > n->high;
    }
    return column;
}
