/* reference_op.h - runs the reference of any operation (reference.h). The case must be on a
 * machine whose memory the host may write, with activations as real. */
#ifndef DNN_TESTS_REFERENCE_OP_H
#define DNN_TESTS_REFERENCE_OP_H

#include "backend/cases/opcase.h"
#include "reference.h"
#include "reference_answer.h"
#include "reference_f1.h"
#include "reference_view.h"
#include "reference_blend.h"
#include "reference_param.h"
#include "reference_periodic.h"
#include "reference_ple.h"
#include "reference_text.h"
#include "reference_series.h"
#include "reference_attend.h"
#include "reference_conv.h"

static void reference_op(enum op_id op, const union op_arguments *a)
{
    switch (op) {
    case OP_gather: ref_gather(&a->gather); break;
    case OP_onehot: ref_onehot(&a->onehot); break;
    case OP_embed: ref_embed(&a->embed); break;
    case OP_embed_back: ref_embed_back(&a->embed_back); break;
    case OP_ple: ref_ple(&a->ple); break;
    case OP_ple_wide: ref_ple_wide(&a->ple_wide); break;
    case OP_ple_dense: ref_ple_dense(&a->ple_dense); break;
    case OP_ple_dense_back: ref_ple_dense_back(&a->ple_dense_back); break;
    case OP_text: ref_text(&a->text); break;
    case OP_text_dense: ref_text_dense(&a->text_dense); break;
    case OP_text_dense_back: ref_text_dense_back(&a->text_dense_back); break;
    case OP_series: ref_series(&a->series); break;
    case OP_tokens: ref_tokens(&a->tokens); break;
    case OP_recur: ref_recur(&a->recur); break;
    case OP_recur_back: ref_recur_back(&a->recur_back); break;
    case OP_pool: ref_pool(&a->pool); break;
    case OP_pool_back: ref_pool_back(&a->pool_back); break;
    case OP_conv: ref_conv(&a->conv); break;
    case OP_conv_back: ref_conv_back(&a->conv_back); break;
    case OP_rocket: ref_rocket(&a->rocket); break;
    case OP_position: ref_position(&a->position); break;
    case OP_position_back: ref_position_back(&a->position_back); break;
    case OP_lengths: ref_lengths(&a->lengths); break;
    case OP_rotary: ref_rotary(&a->rotary); break;
    case OP_attention: ref_attention(&a->attention); break;
    case OP_attention_back: ref_attention_back(&a->attention_back); break;
    case OP_weigh: ref_weigh(&a->weigh); break;
    case OP_weigh_back: ref_weigh_back(&a->weigh_back); break;
    case OP_periodic: ref_periodic(&a->periodic); break;
    case OP_periodic_back: ref_periodic_back(&a->periodic_back); break;
    case OP_dense: ref_dense(&a->dense); break;
    case OP_dense_back: ref_dense_back(&a->dense_back); break;
    case OP_act: ref_act_op(&a->act); break;
    case OP_act_back: ref_act_back(&a->act_back); break;
    case OP_blend: ref_blend(&a->blend); break;
    case OP_blend_back: ref_blend_back(&a->blend_back); break;
    case OP_dropout: ref_dropout(&a->dropout); break;
    case OP_add: ref_add(&a->add); break;
    case OP_view_scale: ref_view_scale(&a->view_scale); break;
    case OP_view_scale_back: ref_view_scale_back(&a->view_scale_back); break;
    case OP_view_mean: ref_view_mean(&a->view_mean); break;
    case OP_bnorm_stats: ref_bnorm_stats(&a->bnorm_stats); break;
    case OP_bnorm: ref_bnorm(&a->bnorm); break;
    case OP_bnorm_sums: ref_bnorm_sums(&a->bnorm_sums); break;
    case OP_bnorm_back: ref_bnorm_back(&a->bnorm_back); break;
    case OP_lnorm: ref_lnorm(&a->lnorm); break;
    case OP_lnorm_back: ref_lnorm_back(&a->lnorm_back); break;
    case OP_loss_class: ref_loss_class(&a->loss_class); break;
    case OP_loss_value: ref_loss_value(&a->loss_value); break;
    case OP_loss_f1: ref_loss_f1(&a->loss_f1); break;
    case OP_score: ref_score(&a->score); break;
    case OP_norm2: ref_norm2(&a->norm2); break;
    case OP_sgd: ref_sgd(&a->sgd); break;
    case OP_rmsprop: ref_rmsprop(&a->rmsprop); break;
    case OP_adam: ref_adam(&a->adam); break;
    case OP_advance: ref_advance(&a->advance); break;
    case OP_keep: ref_keep(&a->keep); break;
    case OP_COUNT: break;
    }
}

#endif
