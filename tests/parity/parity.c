/* parity.c - the device against the CPU, in one program: every case of every operation (opcase.h)
 * within its gate, twice and by graphs of one round and of two with the same bits, nothing written
 * outside; then gradients and trainings of small networks, and products in each precision. The
 * machine is the real one behind the door, so the program links against the CUDA runtime or against
 * the emulated one.
 *
 *     parity [--only NAME] [--most MFLOP] [--cases | --training | --precision | --least]
 *            [FILE.json]    --least: --precision, the smallest shapes that have each tile
 *     parity --only small|preset|large --steps N [--epochs N]    that many steps of so many epochs,
 *                             for those who count
 *     parity --large APART [FILE.json]    G17, rows so many elements apart; 0: as memory allows
 *
 * Exit 0 when all is equal, 1 when something is not, 69 without a device, 81 when it failed. */
#include "parity.h"

#include <string.h>

#include "base/text.h"

void parity_array(struct parity *p, const char *name)
{
    fprintf(p->out, ",\n \"%s\": [", name);
    p->lines = 0;
}
void parity_array_end(struct parity *p)
{
    fprintf(p->out, "\n ]");
}

void parity_result(struct parity *p, const char *name, double worst, double gate, const char *bad)
{
    bool good = !*bad;
    *(good ? &p->passed : &p->failed) += 1;
    fprintf(p->out, "%s\n  {\"name\": \"%s\", \"worst\": ", p->lines++ ? "," : "", name);
    if (worst < 1e300)
        fprintf(p->out, "%.3g", worst);
    else
        fprintf(p->out, "null"); /* JSON knows no infinity */
    fprintf(p->out, ", \"gate\": %.3g, \"passed\": %s", gate, good ? "true" : "false");
    fprintf(p->out, good ? "}" : ", \"why\": \"%s\"}", bad);
    if (!good)
        fprintf(stderr, "not ok: %s: %s (%.3g, gate %.3g)\n", name, bad, worst, gate);
}

static void head(const struct parity *p, const struct machine *device)
{
    struct machine_info info;
    struct plan plan;
    machine_describe(device, &info);
    machine_plan(device, 256, 1, &plan);
    fprintf(p->out, "{\"program\": \"parity\", \"device\": \"%s\", \"driver\": \"%s\", ",
            info.device, info.driver);
    fprintf(p->out, "\"core\": \"%s\", \"precision\": \"%s\", \"guests\": \"%s\", ", plan.core,
            plan.precision, plan.guests);
    fprintf(p->out, "\"real_gpu\": %s", strcmp(info.device, "emulated") == 0 ? "false" : "true");
}

/* Machines of their own for the cases; the trainings open theirs. */
static int run_large(struct parity *p, uint64_t apart)
{
    struct err e = {0};
    fprintf(p->out, "{\"program\": \"parity\"");
    parity_array(p, "large");
    bool alive = parity_large(p, apart, &e);
    parity_array_end(p);
    fprintf(p->out, ",\n \"passed\": %u, \"failed\": %u, \"left_out\": %u, \"alive\": %s}\n",
            p->passed, p->failed, p->left_out, alive ? "true" : "false");
    fprintf(stderr, "parity: %u passed, %u failed%s\n", p->passed, p->failed,
            p->left_out ? "; too little memory, which is not a pass" : "");
    if (!alive)
        fprintf(stderr, "parity: the device failed: %s\n", e.what);
    return !alive ? 81 : p->left_out ? 69 : p->failed || !p->passed;
}

static int run_cards(struct parity *p, bool breaks)
{
    fprintf(p->out, "{\"program\": \"parity\"");
    parity_array(p, "cards");
    parity_cards(p, breaks);
    parity_array_end(p);
    fprintf(p->out, ",\n \"passed\": %u, \"failed\": %u}\n", p->passed, p->failed);
    fprintf(stderr, "parity: %u passed, %u failed\n", p->passed, p->failed);
    return p->failed || !p->passed;
}

static int run(struct parity *p, bool cases, bool trainings, bool precisions)
{
    struct err e = {0};
    struct machine *device = machine_open(&(struct machine_options){.backend = "cuda"}, &e);
    if (!device) {
        fprintf(p->out, "{\"program\": \"parity\", \"skipped\": \"no device\"}\n");
        fprintf(stderr, "parity: skipped, which is not a pass: %s\n", e.what);
        return 69;
    }
    struct machine *cpu = machine_open(&(struct machine_options){.backend = "cpu"}, &e);
    head(p, device);
    bool alive = true;
    if (cases) {
        parity_array(p, "cases");
        alive = parity_cases(p, device, cpu, &e);
        parity_array_end(p);
    }
    machine_close(cpu);
    machine_close(device);
    if (alive && trainings) {
        parity_array(p, "training");
        parity_trainings(p, "cuda");
        parity_array_end(p);
    }
    if (alive && precisions) {
        parity_array(p, "precision");
        parity_precisions(p, "cuda");
        parity_array_end(p);
    }
    fprintf(p->out, ",\n \"passed\": %u, \"failed\": %u, \"left_out\": %u, \"alive\": %s}\n",
            p->passed, p->failed, p->left_out, alive ? "true" : "false");
    fprintf(stderr, "parity: %u passed, %u failed, %u left out\n", p->passed, p->failed,
            p->left_out);
    if (!alive)
        fprintf(stderr, "parity: the device failed: %s\n", e.what);
    return !alive ? 81 : p->failed || !p->passed;
}

int main(int count, char **words)
{
    struct parity p = {.out = stdout, .most = UINT64_MAX};
    bool cases = true, trainings = true, precisions = true, cards = false, breaks = false;
    double steps = 0, epochs = 1, apart = -1;
    struct err e = {0};
    for (int i = 1; i < count; i++) {
        double most;
        if (strcmp(words[i], "--cases") == 0) {
            trainings = precisions = false;
        } else if (strcmp(words[i], "--training") == 0) {
            cases = precisions = false;
        } else if (strcmp(words[i], "--precision") == 0 || strcmp(words[i], "--least") == 0) {
            cases = trainings = false;
            p.least = p.least || words[i][2] == 'l';
        } else if (strcmp(words[i], "--cards") == 0 || strcmp(words[i], "--cards-break") == 0) {
            cards = true;
            breaks = words[i][7] != '\0';
        } else if (i + 1 < count && strcmp(words[i], "--only") == 0) {
            p.only = words[++i];
        } else if (i + 1 < count && strcmp(words[i], "--most") == 0 &&
                   text_to_double(words[i + 1], &most)) {
            p.most = (uint64_t)(most * 1e6);
            i++;
        } else if (i + 1 < count && strcmp(words[i], "--steps") == 0 &&
                   text_to_double(words[i + 1], &steps) && steps >= 1 && steps <= 1e6) {
            i++;
        } else if (i + 1 < count && strcmp(words[i], "--epochs") == 0 &&
                   text_to_double(words[i + 1], &epochs) && epochs >= 1 && epochs <= 1e6) {
            i++;
        } else if (i + 1 < count && strcmp(words[i], "--large") == 0 &&
                   text_to_double(words[i + 1], &apart) && apart >= 0 && apart < 0x1p32) {
            i++;
        } else if (words[i][0] != '-' && p.out == stdout && (p.out = fopen(words[i], "w"))) {
            continue;
        } else {
            fprintf(stderr, "parity: what is %s?\n", words[i]);
            return 64;
        }
    }
    if (steps > 0) {
        bool good = parity_steps(&p, "cuda", (uint32_t)steps, (uint32_t)epochs, &e);
        fprintf(stderr, good ? "" : "parity: the device failed: %s\n", e.what);
        return good ? 0 : 81;
    }
    int code = cards        ? run_cards(&p, breaks)
               : apart >= 0 ? run_large(&p, (uint64_t)apart)
                            : run(&p, cases, trainings, precisions);
    return fclose(p.out) == 0 ? code : 74;
}
